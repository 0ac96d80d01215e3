import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { firstLine } from "./testing/first-line.ts";
import { serverWithBase } from "./testing/server-with-base.ts";
import { launch, outcome, torpor } from "./testing/torpor.ts";

const server = serverWithBase();

const exec = (...args: string[]) => torpor(server, ["exec", ...args]);
const sha = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");
/** The first line that a command writes. */
const said = (child: ReturnType<typeof launch>) => firstLine(child.stdout as Readable);

test("the code and both streams are the command's", async () => {
  expect(await exec("base", "sh", "-c", "echo out; echo err >&2; exit 7")).toMatchObject({ code: 7, text: "out\n", stderr: "err\n" });
  expect(await exec("base", "--", "echo", "-n", "--help")).toMatchObject({ code: 0, text: "--help" });
  expect(await exec("-e", "A=b c", "base", "sh", "-c", 'printf "$A"')).toMatchObject({ code: 0, text: "b c" });
});

test("E18: a death by signal is 128 + n", async () => {
  for (const [signal, code] of [
    ["KILL", 137],
    ["TERM", 143],
    ["SEGV", 139],
    ["ABRT", 134],
  ] as const) {
    expect((await exec("base", "sh", "-c", `kill -${signal} $$`)).code).toBe(code);
  }
});

test("E16: a command that can't start is 127 or 126, with a line", async () => {
  expect(await exec("base", "nosuch")).toMatchObject({ code: 127, stderr: expect.stringContaining("nosuch") });
  expect(await exec("base", "/etc/passwd")).toMatchObject({ code: 126, stderr: expect.stringContaining("/etc/passwd") });
});

test("a time limit is 124, and memory 137 with a line", async () => {
  expect(await exec("--timeout", "200ms", "base", "sleep", "60")).toMatchObject({
    code: 124,
    stderr: expect.stringContaining("time limit"),
  });
  expect(await exec("-e", "TEST_END=oom", "base", "sh", "-c", "kill -9 $$")).toMatchObject({
    code: 137,
    stderr: expect.stringMatching(/^torpor: sh was killed: out of memory \(oom\)\n/),
  });
});

test("E10, E15: 50 MB of anything go in and come out byte for byte", async () => {
  const input = randomBytes(50_000_000);
  const counted = await torpor(server, ["exec", "-i", "base", "sha256sum"], { input });
  expect(counted.text).toBe(`${sha(input)}  -\n`);
  const echoed = await torpor(server, ["exec", "-i", "base", "cat"], { input });
  expect(echoed.code).toBe(0);
  expect(sha(echoed.stdout)).toBe(sha(input));
});

test("E10: the end of the input leaves the output open", async () => {
  const result = await torpor(server, ["exec", "-i", "base", "sh", "-c", "cat; sleep 0.3; echo after"], { input: "hi\n" });
  expect(result).toMatchObject({ code: 0, text: "hi\nafter\n" });
});

test("E01: a reader that stalls gets all of it, the last line and the code", async () => {
  const child = launch(server, ["exec", "base", "sh", "-c", "seq 1 500000; echo END; exit 3"]);
  await once(child.stdout as NodeJS.ReadableStream, "readable");
  await sleep(500);
  const result = await outcome(child);
  const expected = `${Array.from({ length: 500_000 }, (_, at) => at + 1).join("\n")}\nEND\n`;
  expect(result.code).toBe(3);
  expect(sha(result.stdout)).toBe(sha(Buffer.from(expected)));
});

test("A09: without a terminal and with a closed input it ends at once", async () => {
  const child = launch(server, ["exec", "-i", "base", "true"]);
  child.stdin?.destroy();
  expect((await outcome(child)).code).toBe(0);
  // The input stays open and nobody writes: the command's end is the end.
  const open = launch(server, ["exec", "-i", "base", "true"]);
  expect((await outcome(open)).code).toBe(0);
});

test("E09: signals go to the command", async () => {
  const child = launch(server, ["exec", "base", "sh", "-c", 'trap "echo got; exit 9" INT; echo ready; while :; do sleep 0.05; done']);
  expect(await said(child)).toBe("ready");
  child.kill("SIGINT");
  expect(await outcome(child)).toMatchObject({ code: 9, text: "got\n" });
  const other = launch(server, ["exec", "base", "sh", "-c", "echo ready; exec sleep 60"]);
  await said(other);
  other.kill("SIGTERM");
  expect((await outcome(other)).code).toBe(143);
});

test("a signal arrives although the command does not take its input", async () => {
  const child = launch(server, ["exec", "-i", "base", "sh", "-c", "echo ready; exec sleep 60"]);
  child.stdin?.on("error", () => {});
  child.stdin?.write(Buffer.alloc(20_000_000));
  await said(child);
  child.kill("SIGINT");
  expect((await outcome(child)).code).toBe(130);
});

test("a reader that has gone ends the command by SIGPIPE", async () => {
  const child = launch(server, ["exec", "base", "sh", "-c", "echo $$; exec yes"]);
  const pid = await said(child);
  child.stdout?.destroy();
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(141);
  const gone = await exec("base", "sh", "-c", `while kill -0 ${pid} 2>/dev/null; do sleep 0.05; done; echo gone`);
  expect(gone.text).toBe("gone\n");
});

test("E28: a pause ends the stream with a line that says so, as does a removal", async () => {
  await torpor(server, ["create", "--name", "sleeper", "debian"]);
  const child = launch(server, ["exec", "sleeper", "sh", "-c", "echo ready; exec sleep 60"]);
  await said(child);
  const paused = outcome(child);
  await torpor(server, ["pause", "sleeper"]);
  expect(await paused).toMatchObject({
    code: 1,
    stderr: "torpor: sandbox sleeper was paused: resume it with torpor resume sleeper; the command continues then\n",
  });
  const stopped = launch(server, ["exec", "base", "sh", "-c", "echo ready; exec sleep 60"]);
  await said(stopped);
  const removed = outcome(stopped);
  await torpor(server, ["remove", "--force", "base", "sleeper"]);
  const withIt = "torpor: sh ended with sandbox base, which was stopped, removed, or paused with its files only\n";
  expect(await removed).toMatchObject({ code: 1, stderr: withIt });
  await torpor(server, ["create", "--name", "base", "debian"]);
});

test("E03: a detached command's output and code can be had later", async () => {
  const detached = await exec("--detach", "base", "sh", "-c", "echo r; exit 4");
  expect(detached.text).toMatch(/^se_[a-z2-7]{16}\n$/);
  expect(await torpor(server, ["logs", "base", detached.text.trim()])).toMatchObject({ code: 4, text: "r\n" });
});

test("E09: a command that was left running is sent signals, and forgotten", async () => {
  const session = (await exec("--detach", "base", "sleep", "600")).text.trim();
  expect(await torpor(server, ["kill", "-s", "SIGINT", "base", session, "se_aaaaaaaaaaaaaaaa"])).toMatchObject({
    code: 1,
    text: `${session}\n`,
    stderr: expect.stringContaining("se_aaaaaaaaaaaaaaaa"),
  });
  expect((await torpor(server, ["logs", "base", session])).code).toBe(130);
  expect(await torpor(server, ["kill", "--forget", "base", session])).toMatchObject({ code: 0, text: `${session}\n` });
  expect(await torpor(server, ["logs", "base", session])).toMatchObject({ code: 1, stderr: expect.stringContaining("no session") });
});
