import { createHash } from "node:crypto";
import { closeCodes } from "@torpor/contract";
import type { LastingEvent, LastingSession, Session } from "@torpor/sdk";
import { TorporClient } from "@torpor/sdk";
import { expect, inject, test } from "vitest";
import { CuttingProxy } from "../../sdks/typescript/src/testing/cutting-proxy.ts";
import { Follower } from "./harness/follow.ts";
import { atOnceMs, eventually } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();

test("a supervised process keeps its pid over a pause with memory, begins anew without, comes back when killed, and stays stopped", async () => {
  const name = await startSandbox(client);
  const count = "n=$(cat /root/n 2>/dev/null); echo $((n+1)) >/root/n; echo run $((n+1)) pid $$; touch /root/said-$((n+1)); exec sleep 600";
  const { id, pid } = await client.startSession(name, {
    argv: ["sh", "-c", count],
    supervise: { backoffMs: 50, readiness: { argv: ["test", "-s", "/root/n"] } },
  });
  const state = async (): Promise<Session> => client.session(name, id);
  const becomes = async (wanted: string, attempt: number) => {
    await eventually(
      async () => (await state()).supervision,
      (seen) => seen?.state === wanted && seen.attempt === attempt,
    );
    // The check of one process may find what the one before it wrote: only this has it that it has spoken.
    await eventually(
      () => client.exec(name, { argv: ["test", "-e", `/root/said-${attempt}`] }),
      ({ end }) => end.exitCode === 0,
    );
  };
  await becomes("ready", 1);
  await client.pause(name);
  await client.resume(name);
  expect(await state()).toMatchObject({ pid, supervision: { state: "ready", attempt: 1 } });
  await client.exec(name, { argv: ["kill", "-9", String(pid)] });
  await becomes("ready", 2);
  await client.pause(name, { memory: false });
  await client.resume(name);
  await becomes("ready", 3);
  expect((await state()).supervision).toMatchObject({ restarts: 1, lastEnd: { reason: "stopped" } });
  // One journal: what each process said, in the order of their numbers, over the kill and the boot.
  const said: string[] = [];
  for await (const event of client.lastingSession(name, id, { mode: "read" })) {
    if (event.type === "output") said.push(Buffer.from(event.data).toString().slice(0, 5));
    if (event.type === "mark") said.push(event.mark.end === null ? `begin ${event.mark.attempt}` : `end ${event.mark.attempt}`);
    if (said.at(-1) === "run 3") break;
  }
  expect(said).toEqual(["begin 1", "run 1", "end 1", "begin 2", "run 2", "end 2", "begin 3", "run 3"]);
  expect((await client.supervised.stop(name, id)).supervision).toMatchObject({ desired: "stopped", state: "stopped" });
  await client.pause(name);
  await client.resume(name);
  expect((await state()).supervision).toMatchObject({ desired: "stopped", state: "stopped", attempt: 3 });
});

test("what is typed to a supervised process that has just died reaches the next one", async () => {
  const name = await startSandbox(client);
  const { id, pid } = await client.startSession(name, { argv: ["cat"], stdin: true, supervise: { backoffMs: 300 } });
  const typist = new Follower(await client.attach(name, id));
  await typist.say("one\n", (text) => text.includes("one\n"));
  await client.exec(name, { argv: ["kill", "-9", String(pid)] });
  // In between, or to the next one if this machine is too busy to look in time.
  await eventually(
    async () => (await client.session(name, id)).supervision,
    (seen) => seen?.state === "backoff" || seen?.attempt === 2,
  );
  await typist.say("two\n", (text) => text.includes("two\n"));
  expect(typist.text).toBe("one\ntwo\n");
  typist.stream.close();
});

test("Y09, Y03: a paste of 100 KiB into a terminal arrives once over cuts; the one who watches sees it too", async () => {
  const name = await startSandbox(client);
  await using proxy = await CuttingProxy.open(inject("torporSocket"));
  const other = new TorporClient({ socket: proxy.socket });
  const { id } = await client.startSession(name, {
    argv: ["sh", "-c", "stty raw -echo; echo ready; head -c 102400 | sha256sum; echo done"],
    terminal: { rows: 24, columns: 80 },
  });
  const watcher = new Follower(await client.attach(name, id, { mode: "read" }));
  const session = other.lastingSession(name, id);
  const ended = lastOf(session);
  await watcher.until(({ text }) => text.includes("ready"));
  const paste = Buffer.from("é🦥 ".repeat(14_629)).subarray(0, 102_400);
  for (let at = 0; at < paste.length; at += 20_480) {
    const cut = proxy.cutAfter(5000 + at / 10);
    await session.write(paste.subarray(at, at + 20_480));
    await cut;
  }
  await watcher.until(({ text }) => text.includes("done"));
  expect(watcher.text).toContain(createHash("sha256").update(paste).digest("hex"));
  const { text } = await ended;
  await watcher.finished;
  expect(text).toBe(watcher.text);
  other.close();
});

test("a terminal that floods, and one that reads nothing of it, delay nobody's echo", async () => {
  const name = await startSandbox(client);
  const echo = new Follower(await client.stream(name, { argv: ["cat"], stdin: true, terminal: { rows: 24, columns: 80 } }));
  await echo.until(({ sessionId }) => sessionId !== "");
  const quiet = await medianEcho(echo);
  const flood = await client.stream(name, { argv: ["yes", "0123456789".repeat(8)], terminal: { rows: 24, columns: 80 } });
  let [bytes, id] = [0, ""];
  const reading = (async () => {
    for await (const frame of flood) {
      if (frame.type === "started") ({ id } = frame.session);
      if (frame.type === "output") bytes += frame.data.length;
    }
  })();
  await eventually(
    async () => bytes,
    (so) => so > 1_000_000,
  );
  // It reads nothing: what it misses is gone for it, and nobody waits for it.
  const stalled = client.lastingSession(name, id, { mode: "read" });
  const [before, begun] = [bytes, performance.now()];
  const flooded = await medianEcho(echo);
  const rate = (bytes - before) / (performance.now() - begun) / 1000;
  // A keystroke may wait for the processor, which the flood and others take; not behind the flood's output, which has no end. How long is the bench's.
  expect({ quiet, flooded, rate, ok: flooded < quiet + atOnceMs && rate > 0 }).toMatchObject({ ok: true });
  await client.removeSession(name, id, { force: true });
  await reading;
  stalled.close();
  echo.stream.close();
});

test("Y07: the end of a shell is told from the daemon's, and its successor lives", async () => {
  const name = await startSandbox(client);
  const { id } = await client.startSession(name, { argv: ["sh"], stdin: true, terminal: { rows: 24, columns: 80 } });
  const session = client.lastingSession(name, id);
  const ended = lastOf(session);
  await session.write(Buffer.from("exit 4\n"));
  expect((await ended).last).toMatchObject({ type: "end", end: { reason: "exited", exitCode: 4 } });
  const { id: next } = await client.startSession(name, { argv: ["sh"], stdin: true, terminal: { rows: 24, columns: 80 } });
  const shell = new Follower(await client.attach(name, next));
  await shell.say("echo alive$((1+1))\n", (text) => text.includes("alive2"));
  shell.stream.close();
  expect(closeCodes.ended).not.toBe(closeCodes.shutdown);
});

test("an interpreter's variables live over a pause, in a fork, and over a run that was interrupted", async () => {
  const name = await startSandbox(client);
  const python = (sandbox: string, code: string, timeoutMs?: number) =>
    client.interpreters.run(sandbox, "python", { code, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  await python(name, "x = 41\nimport time");
  expect(await python(name, "time.sleep(60)", 300)).toMatchObject({ error: { name: "TimeoutError" } });
  await client.pause(name);
  await client.resume(name);
  expect(await python(name, "x += 1\nprint('out')\nx")).toMatchObject({ stdout: "out\n", result: "42", error: null });
  await client.fork(name, { name: `${name}-child` });
  expect((await python(`${name}-child`, "x = 'child'\nx")).result).toBe("'child'");
  expect((await python(name, "x")).result).toBe("42");
  expect(await client.interpreters.run(name, "shell", { code: "cd /usr; a=1" })).toMatchObject({ exitCode: 0, error: null });
  expect(await client.interpreters.run(name, "shell", { code: "echo $a; pwd; (exit 7)" })).toMatchObject({
    stdout: "1\n/usr\n",
    exitCode: 7,
  });
});

async function lastOf(session: LastingSession): Promise<{ last: LastingEvent | undefined; text: string }> {
  let last: LastingEvent | undefined;
  let text = "";
  for await (const event of session) {
    last = event;
    if (event.type === "output") text += Buffer.from(event.data).toString("latin1");
  }
  return { last, text };
}

/** Of 41 keystrokes, in ms. */
async function medianEcho(echo: Follower): Promise<number> {
  const times: number[] = [];
  for (let key = 0; key < 41; key++) {
    const begun = performance.now();
    await echo.say("x", (text) => text.length > 0);
    times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[20] as number;
}
