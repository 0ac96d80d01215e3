import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { cpuidProgram } from "./harness/cpuid.ts";
import { cycle } from "./harness/cycle.ts";
import { Follower } from "./harness/follow.ts";
import { atOnceMs, eventually, inside, output } from "./harness/inside.ts";
import { hostRuntime, killHard } from "./harness/runtime.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();

test("the tail of a large output reaches a reader that stalls (E01)", async () => {
  const name = await startSandbox(client);
  const numbers = 1_500_000;
  const stream = await client.stream(name, { argv: ["sh", "-c", `seq 1 ${numbers}; echo END; exit 3`] });
  const hash = createHash("sha256");
  let frames = 0;
  let last = "";
  for await (const frame of stream) {
    if (frame.type === "output") {
      hash.update(frame.data);
      last = Buffer.from(frame.data).toString();
      // Slow at first, then a stall in which every buffer on the way is full.
      if (frames++ < 50) {
        await sleep(2);
      } else if (frames === 51) {
        await sleep(2000);
      }
    } else if (frame.type === "end") {
      expect(frame.end).toMatchObject({ reason: "exited", exitCode: 3 });
    }
  }
  expect(last.endsWith("END\n")).toBe(true);
  const wanted = createHash("sha256");
  for (let i = 1; i <= numbers; i++) {
    wanted.update(`${i}\n`);
  }
  expect(hash.digest("hex")).toBe(wanted.update("END\n").digest("hex"));
});

test("the exit code is there without anybody reading the output (E03)", async () => {
  const name = await startSandbox(client);
  const { id } = await client.startSession(name, { argv: ["sh", "-c", "exit 5"] });
  const ended = await eventually(
    () => client.session(name, id),
    ({ end }) => end !== null,
  );
  expect(ended.end).toEqual({ reason: "exited", exitCode: 5, signal: null, oom: false });
});

test("100 very short commands, and 100 on terminals, lose nothing (E04)", async () => {
  const name = await startSandbox(client);
  for (let i = 0; i < 100; i++) {
    expect(await inside(client, name, ["echo", "x"])).toMatchObject({ stdout: "x\n", end: { exitCode: 0 } });
    const terminal = new Follower(await client.stream(name, { argv: ["echo", "x"], terminal: { rows: 24, columns: 80 } }));
    await terminal.finished;
    expect([terminal.text, terminal.end?.exitCode]).toEqual(["x\r\n", 0]);
  }
});

const endings = {
  stopped: { end: (name: string) => client.stop(name, { graceMs: 0 }), reasons: ["stopped"] },
  removed: { end: (name: string) => client.remove(name, { force: true }), reasons: ["stopped"] },
  "killed on the host": { end: killEngine, reasons: ["lost"] },
};

test.each(Object.entries(endings))("a stream ends with a reason when its sandbox is %s (E06)", async (_, { end, reasons }) => {
  const name = await startSandbox(client);
  const stream = new Follower(await client.stream(name, { argv: ["sleep", "600"] }));
  await stream.until(({ sessionId }) => sessionId !== "");
  const asked = performance.now();
  await end(name);
  await stream.finished;
  expect(performance.now() - asked).toBeLessThan(atOnceMs);
  expect(reasons).toContain(stream.end?.reason ?? stream.failure);
  expect(stream.end?.exitCode ?? 137).not.toBe(0);
});

async function killEngine(name: string): Promise<void> {
  const { enginePid } = await hostRuntime(client, (await client.info()).instance, name);
  await killHard(enginePid);
}

test("a background child that holds stdout keeps neither the call open nor loses its own life (E07)", async () => {
  const name = await startSandbox(client);
  const asked = performance.now();
  const { stdout, end } = await inside(
    client,
    name,
    "(while :; do echo t; date +%s%N > /tmp/.alive; mv /tmp/.alive /tmp/alive; sleep 0.1; done) & echo ok",
  );
  expect(performance.now() - asked).toBeLessThan(atOnceMs);
  expect(stdout).toContain("ok\n");
  expect(end.exitCode).toBe(0);
  // The child may not have come to its first line yet.
  const alive = () => output(client, name, "cat /tmp/alive || true");
  const first = await eventually(alive, (text) => text !== "");
  // More than a pipe of 64 KiB takes is not needed: a broken one would end it at the first write.
  await eventually(alive, (text) => text > first);
});

test("a reader that drops and comes back with the last number misses and repeats nothing (E12)", async () => {
  const name = await startSandbox(client);
  const { id } = await client.startSession(name, {
    argv: ["python3", "-c", "import time\nfor i in range(1, 1501):\n    print(i, flush=True)\n    time.sleep(0.001)\nraise SystemExit(6)"],
  });
  let text = "";
  let after = 0;
  let ended: number | null | undefined;
  for (let drops = 0; ended === undefined; drops++) {
    const stream = await client.attach(name, id, { after });
    let frames = 0;
    for await (const frame of stream) {
      if (frame.type === "output") {
        text += Buffer.from(frame.data).toString();
        after = frame.seq;
        if (++frames === 20 + drops) {
          break;
        }
      } else if (frame.type === "end") {
        ended = frame.end.exitCode;
      }
    }
    stream.close();
  }
  expect(text).toBe(Array.from({ length: 1500 }, (_, i) => `${i + 1}\n`).join(""));
  expect(ended).toBe(6);
});

test("what can't be run says why, as a shell does (E16)", async () => {
  const name = await startSandbox(client);
  for (const [argv, exitCode] of [
    [["nosuch"], 127],
    [["/nosuch/program"], 127],
    [["/etc/passwd"], 126],
    [["/tmp"], 126],
    [[""], 127],
  ] as const) {
    await expect(client.exec(name, { argv: [...argv] }), argv[0]).rejects.toMatchObject({
      code: "command_not_started",
      details: { exitCode },
    });
  }
  expect(await output(client, name, ["printf", "[%s]", "a", "", "b"])).toBe("[a][][b]");
});

test("a death by signal has its shell's exit code and its name (E18)", async () => {
  const name = await startSandbox(client);
  for (const [command, exitCode, signal] of [
    ["kill -9 $$", 137, "SIGKILL"],
    ["kill -15 $$", 143, "SIGTERM"],
    ["kill -11 $$", 139, "SIGSEGV"],
    ["exec python3 -c 'import os; os.abort()'", 134, "SIGABRT"],
  ] as const) {
    expect((await inside(client, name, command)).end).toMatchObject({ reason: "exited", exitCode, signal, oom: false });
  }
});

test("a missing working directory is told by its name (E21)", async () => {
  const name = await startSandbox(client, { workdir: "/nope" });
  const told = await inside(client, name, ["pwd"]).then(
    ({ stdout }) => stdout,
    (error: Error) => error.message,
  );
  expect(told).toContain("/nope");
  await expect(client.exec(name, { argv: ["pwd"], workdir: "/nope2" })).rejects.toMatchObject({
    code: "command_not_started",
    message: expect.stringContaining("/nope2"),
  });
  expect(await output(client, name, ["true"]).catch((error: Error) => error.message)).not.toContain("255");
});

test("commands share no shell: exit, set -e, here-documents, cd and export end with them (E22)", async () => {
  const name = await startSandbox(client);
  const home = await output(client, name, ["pwd"]);
  expect((await inside(client, name, "exit 3")).end.exitCode).toBe(3);
  expect((await inside(client, name, "cd /tmp; export A=1; set -e; false")).end.exitCode).toBe(1);
  expect(await output(client, name, "cat <<X\nhi\nX")).toBe("hi");
  expect(await output(client, name, "pwd; echo [$A]")).toBe(`${home}\n[]`);
});

test("the sandbox sees its own CPUs and memory (E25)", async () => {
  // The engine tells of no fewer than 2: some programs leave their locks out when they see one.
  const cpus = 2;
  const name = await startSandbox(client, { resources: { cpus, memoryBytes: 512 * 2 ** 20 } });
  const [seen, totalKib] = (await output(client, name, "nproc; awk '/MemTotal/ {print $2}' /proc/meminfo")).split("\n").map(Number);
  expect(seen).toBe(cpus);
  expect(totalKib).toBeGreaterThan(500 * 1024);
  expect(totalKib).toBeLessThan(530 * 1024);
});

test.runIf(process.arch === "x64")(
  "the processor answers CPUID itself, in a new sandbox and in one that was resumed: no program waits for the engine's answer",
  async () => {
    const name = await startSandbox(client);
    const ask = async () => expect(await output(client, name, ["python3", "-c", cpuidProgram])).not.toMatch(/^[0x \n]*$/);
    await ask();
    await cycle(client, name);
    await ask();
  },
);

test("the result of an ended command outlives a pause (E27)", async () => {
  const name = await startSandbox(client);
  const { id } = await client.startSession(name, { argv: ["sh", "-c", "echo r; exit 4"] });
  await eventually(
    () => client.session(name, id),
    ({ end }) => end !== null,
  );
  await cycle(client, name);
  expect((await client.session(name, id)).end).toMatchObject({ reason: "exited", exitCode: 4 });
  const again = new Follower(await client.attach(name, id));
  await again.finished;
  expect([again.text, again.end?.exitCode]).toEqual(["r\n", 4]);
});

test("a pause at any moment of a stream ends it as paused, and a command that comes then runs whole or not at all (E28)", async () => {
  const name = await startSandbox(client);
  for (let i = 0; i < 8; i++) {
    const stream = new Follower(await client.stream(name, { argv: ["sh", "-c", "while :; do seq 1 10000; done"] }));
    await stream.until(({ sessionId }) => sessionId !== "");
    await sleep(i * 25);
    const pausing = client.pause(name);
    const raced = client.exec(name, { argv: ["echo", "raced"] }).then(
      ({ end, stdout }) => `${end.reason} ${Buffer.from(stdout, "base64").toString().trim()}`,
      (error: { code: string }) => error.code,
    );
    await pausing;
    await stream.finished;
    expect(stream.end?.reason ?? stream.failure).toBe("paused");
    expect(["exited raced", "operation_active", "session_paused", "sandbox_not_running"]).toContain(await raced);
    await client.resume(name, { memory: "require" });
    expect(await output(client, name, ["echo", "ok"])).toBe("ok");
    for (const { id } of await client.sessions(name)) {
      await client.removeSession(name, id, { force: true });
    }
  }
});
