import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { get, mib, RandomContent, sha256 } from "./harness/content.ts";
import { Follower } from "./harness/follow.ts";
import { atOnceMs, eventually, inside, output } from "./harness/inside.ts";
import { hostRuntime } from "./harness/runtime.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";
import { outcomeOf, runTorpor, spawnTorpor } from "./harness/torpor-process.ts";

const client = sharedClient();

test("100 MB of input reach a command whole, through the client and through the command line (E10)", async () => {
  const name = await startSandbox(client);
  const content = new RandomContent(100 * mib);
  const stream = await client.stream(name, { argv: ["sha256sum"], stdin: true });
  const summed = new Follower(stream);
  for await (const chunk of content) {
    await stream.write(chunk);
  }
  await stream.end();
  await summed.finished;
  expect([summed.text, summed.end?.exitCode]).toEqual([`${content.digest()}  -\n`, 0]);

  const again = new RandomContent(100 * mib);
  const child = spawnTorpor("exec", "-i", name, "sha256sum");
  const outcome = outcomeOf(child);
  for await (const chunk of again) {
    if (!child.stdin.write(chunk)) {
      await once(child.stdin, "drain");
    }
  }
  child.stdin.end();
  expect(await outcome).toMatchObject({ code: 0, stdout: Buffer.from(`${again.digest()}  -\n`) });
});

test("the end of the input reaches the command, and its output after that still comes (E10)", async () => {
  const name = await startSandbox(client);
  const outcome = await runTorpor(["exec", "-i", name, "sh", "-c", "cat; sleep 1; echo after"], Buffer.from("hi\n"));
  expect([outcome.code, outcome.stdout.toString()]).toEqual([0, "hi\nafter\n"]);
});

test("blank lines, CR and a last line without its newline come as they are (E13)", async () => {
  const name = await startSandbox(client);
  const wanted = Buffer.from("610a0a620d0a0a0963", "hex");
  const command = ["sh", "-c", "printf 'a\\n\\nb\\r\\n\\n\\tc'"];
  expect(Buffer.from((await client.exec(name, { argv: command })).stdout, "base64")).toEqual(wanted);
  expect((await runTorpor(["exec", name, ...command])).stdout).toEqual(wanted);
});

test("binary output is the same in the client, in a pipe and in the file (E15)", async () => {
  const name = await startSandbox(client);
  const made = await client.exec(name, { argv: ["sh", "-c", "(head -c 1048576 /dev/urandom; printf '\\0\\377\\355\\240\\200') | tee /r"] });
  const file = await get(client, name, "/r");
  expect(file.length).toBe(1048576 + 5);
  expect(sha256(Buffer.from(made.stdout, "base64"))).toBe(sha256(file));
  const piped = await runTorpor(["exec", name, "cat", "/r"]);
  expect(sha256(piped.stdout)).toBe(sha256(file));
  const back = await runTorpor(["exec", "-i", name, "sha256sum"], file);
  expect(back.stdout.toString()).toBe(`${createHash("sha256").update(file).digest("hex")}  -\n`);
});

test("the command line's exit code is the command's, also for signals and for what can't be run (E18, E16)", async () => {
  const name = await startSandbox(client);
  for (const [argv, code] of [
    [["sh", "-c", "exit 3"], 3],
    [["sh", "-c", "kill -9 $$"], 137],
    [["sh", "-c", "kill -15 $$"], 143],
    [["sh", "-c", "kill -11 $$"], 139],
    [["python3", "-c", "import os; os.abort()"], 134],
    [["nosuch"], 127],
    [["/etc/passwd"], 126],
  ] as const) {
    const outcome = await runTorpor(["exec", name, ...argv]);
    expect([argv.join(" "), outcome.code]).toEqual([argv.join(" "), code]);
    expect(outcome.stderr === "").toBe(code !== 126 && code !== 127);
  }
});

test("SIGINT of the client goes to the command; a client that was killed leaves it listed and killable (E09)", async () => {
  const name = await startSandbox(client);
  const running = () => output(client, name, "pgrep -fx 'tail -f /dev/null' || true");
  const polite = spawnTorpor("exec", name, "tail", "-f", "/dev/null");
  const interrupted = outcomeOf(polite);
  await eventually(running, (pids) => pids !== "");
  polite.kill("SIGINT");
  expect((await interrupted).code).toBe(130);
  await eventually(running, (pids) => pids === "");

  const killed = spawnTorpor("exec", name, "tail", "-f", "/dev/null");
  const gone = outcomeOf(killed);
  await eventually(running, (pids) => pids !== "");
  killed.kill("SIGKILL");
  await gone;
  const left = (await client.sessions(name)).find(({ argv, end }) => argv[0] === "tail" && end === null);
  expect(left).toBeDefined();
  await client.signal(name, left?.id ?? "", "TERM");
  await eventually(running, (pids) => pids === "");
});

test("the command line ends at once when the command does, or when its sandbox goes (E06)", async () => {
  const name = await startSandbox(client);
  const asked = performance.now();
  expect((await runTorpor(["exec", name, "true"])).code).toBe(0);
  expect(performance.now() - asked).toBeLessThan(atOnceMs);
  const child = spawnTorpor("exec", name, "sh", "-c", "echo up; exec sleep 600");
  const outcome = outcomeOf(child);
  await once(child.stdout, "data");
  await client.remove(name, { force: true });
  const { code, stderr } = await outcome;
  expect(code).not.toBe(0);
  expect(stderr).toContain(name);
});

test("300 commands leave no descriptor, no process and no task behind (D16)", async () => {
  const name = await startSandbox(client);
  const { shimPid, enginePid } = await hostRuntime(client, (await client.info()).instance, name);
  const held = (pid: number, kind: "fd" | "task") => readdirSync(`/proc/${pid}/${kind}`).length;
  const counts = async () => {
    const inside = "ls /proc/1/fd | wc -l; ls /proc/1/task | wc -l; ps -eo stat= | grep -c Z || true; ps -e --no-headers | wc -l";
    const [descriptors, threads, zombies, tasks] = (await output(client, name, inside)).split("\n").map(Number) as [
      number,
      number,
      number,
      number,
    ];
    const host = { shimDescriptors: held(shimPid, "fd"), shimThreads: held(shimPid, "task"), engineDescriptors: held(enginePid, "fd") };
    return { zombies, tasks, flat: { descriptors, threads, ...host } };
  };
  const round = async (count: number) => {
    for (let i = 0; i < count; i += 3) {
      await inside(client, name, ["true"]);
      await new Follower(await client.stream(name, { argv: ["true"], terminal: { rows: 24, columns: 80 } })).finished;
      const cut = await client.stream(name, { argv: ["head", "-c", "1000", "/dev/zero"] });
      cut.close();
    }
  };
  await round(60);
  const before = await eventually(counts, ({ zombies }) => zombies === 0);
  await round(300);
  // What the last streams had goes a moment after them.
  const isFlat = ([what, count]: [string, number]) => count < before.flat[what as keyof typeof before.flat] + 20;
  await eventually(counts, ({ zombies, tasks, flat }) => zombies === 0 && tasks <= before.tasks + 2 && Object.entries(flat).every(isFlat));
});

test("input that nobody reads holds neither the client's memory nor the call (E10)", async () => {
  const name = await startSandbox(client);
  const outcome = await runTorpor(["exec", "-i", name, "true"], randomBytes(4 * mib));
  expect(outcome.code).toBe(0);
});
