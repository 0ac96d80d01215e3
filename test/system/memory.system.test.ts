import { describe, expect, test } from "vitest";
import { mib, RandomContent } from "./harness/content.ts";
import { Follower } from "./harness/follow.ts";
import { atOnceMs, eventually, inside, output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";
import { runTorpor } from "./harness/torpor-process.ts";

const client = sharedClient();
const resources = { memoryBytes: 256 * mib, pids: 512 };
const killed = { reason: "oom", exitCode: 137, signal: "SIGKILL", oom: true };

/** The sandbox that it was, and at once: what the case is about. */
async function expectAlive(name: string, boot: string): Promise<void> {
  const asked = performance.now();
  expect(await output(client, name, "cat /dev/shm/boot; echo ok")).toBe(`${boot}\nok`);
  expect(performance.now() - asked).toBeLessThan(atOnceMs);
  expect((await client.get(name)).state).toBe("running");
}

async function startSmall(): Promise<{ name: string; boot: string }> {
  const name = await startSandbox(client, { resources });
  const boot = await output(client, name, "cat /proc/sys/kernel/random/uuid | tee /dev/shm/boot");
  return { name, boot };
}

describe("a process outgrows 256 MiB (E19)", () => {
  const growers = {
    "all at once": "bytearray(1 << 30)",
    // Only touched pages count; 4 MiB a step is about as fast as a program fills memory that it reads from somewhere.
    "page by page, fast": "a = []\nwhile True: a.append(bytes(4 << 20).replace(b'\\0', b'x'))",
    "page by page, slowly": "import time\na = []\nwhile True: a.append(b'x' * (2 << 20)); time.sleep(0.01)",
  };

  for (const [way, program] of Object.entries(growers)) {
    test(`${way}: it dies with 137 and oom, and nothing else does`, async () => {
      const { name, boot } = await startSmall();
      const bystander = await client.startSession(name, { argv: ["sleep", "9999"] });
      for (let i = 0; i < 5; i++) {
        expect((await inside(client, name, ["python3", "-c", program])).end, `trial ${i}`).toEqual(killed);
        await expectAlive(name, boot);
      }
      expect(await output(client, name, ["pgrep", "-x", "sleep"])).toBe(String(bystander.pid));
    });
  }

  test("two at once: the sandbox goes on", async () => {
    const { name, boot } = await startSmall();
    const ends = await Promise.all([1, 2].map(() => inside(client, name, ["python3", "-c", growers["page by page, fast"]])));
    expect(ends.map(({ end }) => end)).toEqual([killed, killed]);
    await expectAlive(name, boot);
  });

  test("a child of the command: the command's own code tells, and the sandbox goes on", async () => {
    const { name, boot } = await startSmall();
    const { stdout } = await inside(client, name, ["sh", "-c", `python3 -c '${growers["all at once"]}'; echo code $?`]);
    expect(stdout).toBe("code 137\n");
    await expectAlive(name, boot);
  });

  test("files of one mount in memory leave room for processes: who writes more is refused", async () => {
    const { name, boot } = await startSmall();
    const program = "a = b'x' * (20 << 20); print('there', flush=True); input()";
    const bystander = new Follower(await client.stream(name, { argv: ["python3", "-c", program], stdin: true }));
    await bystander.until(({ text }) => text === "there\n");
    for (const directory of ["/tmp", "/dev/shm", "/run"]) {
      const { end, stderr } = await inside(client, name, `head -c 3000000000 /dev/zero > ${directory}/big`);
      expect(end).toMatchObject({ exitCode: 1, oom: false });
      expect(stderr).toContain("No space left on device");
      expect(Number(await output(client, name, `stat -c %s ${directory}/big`))).toBeGreaterThan(190 * mib);
      await output(client, name, `rm ${directory}/big`);
    }
    await expect(client.files.write(name, "/tmp/big", new RandomContent(200 * mib))).rejects.toMatchObject({
      code: "disk_full",
      message: expect.stringContaining("the sandbox's memory"),
    });
    await bystander.stream.write(Buffer.from("\n"));
    await bystander.finished;
    expect(bystander.end).toMatchObject({ exitCode: 0 });
    await expectAlive(name, boot);
  });

  test("files of two fill it: the writer dies, and commands that come to look and to remove them do not", async () => {
    const { name, boot } = await startSmall();
    await inside(client, name, "head -c 3000000000 /dev/zero > /tmp/big");
    expect((await inside(client, name, ["dd", "if=/dev/zero", "of=/dev/shm/big", "bs=1M"])).end).toEqual(killed);
    for (let i = 0; i < 5; i++) {
      // Nothing goes for memory that others filled, though each of these takes some beyond it.
      await output(client, name, "ls /dev/shm/big");
      await output(client, name, "stat -c %s /dev/shm/big; grep MemAvailable /proc/meminfo | tr -d ' '");
      await output(client, name, ["python3", "-c", "import os; os.stat('/dev/shm/big')"]);
    }
    await output(client, name, "rm -f /tmp/big /dev/shm/big");
    await expectAlive(name, boot);
  });

  test("the command line exits with 137 and says why", async () => {
    const { name, boot } = await startSmall();
    const { code, stderr } = await runTorpor(["exec", name, "python3", "-c", growers["all at once"]]);
    expect(code).toBe(137);
    expect(stderr).toContain("out of memory (oom)");
    await expectAlive(name, boot);
  });

  test("after a pause and resume too, with what was in memory before", async () => {
    const { name, boot } = await startSmall();
    await output(client, name, "head -c 60000000 /dev/urandom > /dev/shm/held");
    await client.pause(name);
    await client.resume(name, { memory: "require" });
    expect((await inside(client, name, ["python3", "-c", growers["all at once"]])).end).toEqual(killed);
    await expectAlive(name, boot);
  });
});

test("a fork bomb is held by the limit of processes, and the sandbox works after it (E19)", async () => {
  const { name, boot } = await startSmall();
  const bomb = new Follower(await client.stream(name, { argv: ["bash", "-c", ":(){ :|:& };:"] }));
  await bomb.finished;
  // It ends as on any machine: by somebody who kills it, or by the watch of the memory that it fills.
  await eventually(
    async () =>
      (
        await inside(client, name, "pkill -9 bash; sleep 0.1; pgrep -c bash").catch((error: Error) => ({ stdout: error.message }))
      ).stdout.trim(),
    (count) => count === "0",
  );
  await expectAlive(name, boot);
});
