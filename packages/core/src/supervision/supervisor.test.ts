import type { Session, Supervise } from "@torpor/contract";
import { describe, expect, test } from "vitest";
import { TimedWorld } from "../testing/timed-world.ts";

const id = "se_aaaaaaaaaaaaaaaa";

async function open(argv: string[], supervise: Supervise = {}): Promise<TimedWorld> {
  const timed = await TimedWorld.open();
  await timed.create();
  await timed.lifecycle.sessions.begin("base", { sessionId: id, argv, supervise });
  return timed;
}

const look = (timed: TimedWorld): Promise<Session> => timed.lifecycle.sessions.get("base", id);
const supervision = async (timed: TimedWorld) => (await look(timed)).supervision;

/** Everything the session has put out, with its marks as words. */
async function journal(timed: TimedWorld, after = 0): Promise<{ words: string[]; seqs: number[] }> {
  const { sessions } = await timed.lifecycle.guest("base");
  const { lastSeq } = await sessions.get(id);
  const words: string[] = [];
  const seqs: number[] = [];
  const left = new AbortController();
  for await (const frame of sessions.attach(id, after, false, left.signal)) {
    if (frame.type === "output") words.push(new TextDecoder().decode(frame.data).trim());
    if (frame.type === "mark") words.push(frame.mark.end === null ? `begin ${frame.mark.attempt}` : `end ${frame.mark.attempt}`);
    if (frame.type === "output" || frame.type === "mark") seqs.push(frame.seq);
    if (frame.type === "end" || seqs.at(-1) === lastSeq) break;
  }
  left.abort();
  return { words, seqs };
}

async function kill(timed: TimedWorld, signal = "KILL"): Promise<void> {
  await (await timed.lifecycle.guest("base")).sessions.signal(id, signal);
  await timed.settled();
}

describe("a supervised session", () => {
  test("whose process is killed begins another after a growing pause, in the same journal", async () => {
    const timed = await open(["sleep", "600"]);
    expect(await look(timed)).toMatchObject({ end: null, supervision: { state: "ready", attempt: 1 } });
    await kill(timed);
    expect(await supervision(timed)).toMatchObject({ state: "backoff", restarts: 1, lastEnd: { exitCode: 137 }, nextAt: timed.at(1000) });
    await timed.pass(999);
    expect(await supervision(timed)).toMatchObject({ state: "backoff", attempt: 1 });
    await timed.pass(1);
    expect(await supervision(timed)).toMatchObject({ state: "ready", attempt: 2 });
    await kill(timed);
    await timed.pass(2000);
    expect(await supervision(timed)).toMatchObject({ state: "ready", attempt: 3, restarts: 2 });
    expect(await journal(timed)).toEqual({ words: ["begin 1", "end 1", "begin 2", "end 2", "begin 3"], seqs: [1, 2, 3, 4, 5] });
  });

  test("whose guest says that it runs whatever was done is looked at again later, and not all the time", async () => {
    const timed = await open(["sleep", "600"]);
    const { sessions } = await timed.lifecycle.guest("base");
    const { get } = sessions;
    let looks = 0;
    sessions.get = async (sessionId) => {
      looks++;
      return { ...(await get(sessionId)), attempt: 1, lastEnd: null };
    };
    await timed.lifecycle.sessions.stop("base", id);
    const before = looks;
    expect(before).toBeLessThan(50);
    await timed.pass(1000);
    expect(looks).toBeGreaterThan(before);
  });

  test("that ends again and again is given up, and can be started again", async () => {
    const timed = await open(["sh", "-c", "exit 1"], { maxRestarts: 2, backoffMs: 100 });
    for (let turn = 0; turn < 5; turn++) await timed.pass(1000);
    const failed = await supervision(timed);
    expect(failed).toMatchObject({ state: "failed", attempt: 3, reason: "it ended with code 1, after 2 restarts within 60 s" });
    expect(await timed.lifecycle.sessions.start("base", id)).toMatchObject({ supervision: { state: "backoff", attempt: 4, restarts: 1 } });
  });

  test("that did its work is done, and one whose program is not there is refused", async () => {
    const timed = await open(["true"]);
    await timed.settled();
    expect(await supervision(timed)).toMatchObject({ desired: "stopped", state: "stopped", lastEnd: { exitCode: 0 } });
    const nosuch = timed.lifecycle.sessions.begin("base", { sessionId: "se_b", argv: ["nosuch"], supervise: {} });
    await expect(nosuch).rejects.toMatchObject({ code: "command_not_started" });
    expect((await timed.lifecycle.sessions.list("base")).map((session) => session.id)).toEqual([id]);
    await expect(timed.lifecycle.sessions.begin("base", { sessionId: "se_c", command: "image" })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("names no command"),
    });
  });

  test("runs the command of its image, if it has one", async () => {
    const timed = await TimedWorld.open();
    await timed.world.images.build({ reference: "service" });
    await timed.create({ image: "service" });
    const session = await timed.lifecycle.sessions.begin("base", { sessionId: id, command: "image", supervise: {} });
    expect(session).toMatchObject({ argv: ["sleep", "600"], supervision: { state: "ready" } });
  });

  test("is stopped and started when asked, over restarts of the daemon", async () => {
    const timed = await open(["sleep", "600"], { restart: "always" });
    expect(await timed.lifecycle.sessions.stop("base", id)).toMatchObject({ supervision: { desired: "stopped", state: "stopped" } });
    await timed.restart();
    await timed.pass(60_000);
    expect(await supervision(timed)).toMatchObject({ desired: "stopped", state: "stopped", attempt: 1 });
    await timed.lifecycle.sessions.start("base", id);
    expect(await timed.lifecycle.sessions.restart("base", id)).toMatchObject({ supervision: { state: "ready", attempt: 3, restarts: 0 } });
    await expect(timed.lifecycle.sessions.remove("base", id, false)).rejects.toMatchObject({ code: "invalid_request" });
    await timed.lifecycle.sessions.remove("base", id, true);
    await expect(look(timed)).rejects.toMatchObject({ code: "session_not_found" });
  });

  test("a daemon that was killed finds its processes, and the end that came meanwhile", async () => {
    const timed = await open(["sleep", "600"]);
    const { pid } = await look(timed);
    await timed.crash();
    await timed.settled();
    expect(await look(timed)).toMatchObject({ pid, supervision: { state: "ready", attempt: 1 } });
    const { sessions } = await timed.lifecycle.guest("base");
    await timed.crash();
    void sessions;
    await kill(timed);
    expect(await supervision(timed)).toMatchObject({ state: "backoff", lastEnd: { exitCode: 137 } });
  });

  test("with the memory the same process goes on", async () => {
    const timed = await open(["counter"]);
    const { pid } = await look(timed);
    await timed.lifecycle.pause("base");
    await timed.lifecycle.resume("base");
    await timed.settled();
    expect(await look(timed)).toMatchObject({ pid, supervision: { state: "ready", attempt: 1, restarts: 0 } });
    await timed.lifecycle.fork("base", { name: "child" });
    await timed.settled();
    expect(await timed.lifecycle.sessions.get("child", id)).toMatchObject({ pid, supervision: { state: "ready", attempt: 1 } });
    await (await timed.lifecycle.guest("child")).sessions.signal(id, "KILL");
    await timed.settled();
    expect(await timed.lifecycle.sessions.get("child", id)).toMatchObject({ supervision: { state: "backoff" } });
    expect(await supervision(timed)).toMatchObject({ state: "ready" });
  });

  test("without the memory another process begins, and the journal goes on", async () => {
    const timed = await open(["sleep", "600"]);
    const before = await journal(timed);
    await timed.lifecycle.pause("base", { memory: false });
    await timed.lifecycle.resume("base");
    await timed.settled();
    const lastEnd = { reason: "stopped", exitCode: 143 };
    expect(await supervision(timed)).toMatchObject({ state: "ready", attempt: 2, restarts: 0, lastEnd });
    expect(await journal(timed)).toEqual({ words: ["begin 1", "end 1", "begin 2"], seqs: [1, 2, 3] });
    expect(before.seqs).toEqual([1]);
  });

  test("after a crash numbers begin higher than any that was given, and a set stop is honoured", async () => {
    const timed = await open(["sleep", "600"]);
    const { runtimeId } = await timed.lifecycle.get("base");
    timed.world.engine.end(runtimeId as string, { reason: "lost", exitCode: null, message: "the engine crashed" });
    await timed.becomes("failed");
    await timed.lifecycle.start("base");
    await timed.settled();
    expect(await supervision(timed)).toMatchObject({ state: "ready", attempt: 2 });
    expect((await look(timed)).lastSeq).toBe(2 ** 32 + 1);
    const other = await open(["sleep", "600"], { runtimeRecovery: "stop" });
    await other.lifecycle.stop("base");
    await other.lifecycle.start("base");
    await other.settled();
    expect(await supervision(other)).toMatchObject({ desired: "stopped", state: "stopped", attempt: 1 });
    expect(await look(other)).toMatchObject({ pid: 0 });
  });

  test("those with a lower number are stopped first", async () => {
    const timed = await open(["sleep", "1"], { stopOrder: 5 });
    await timed.lifecycle.sessions.begin("base", { sessionId: "se_b", argv: ["sleep", "1"], supervise: { stopOrder: -1 } });
    const order: string[] = [];
    const { sessions } = await timed.lifecycle.guest("base");
    for (const sid of [id, "se_b"]) void sessions.awaitEnd(sid, 1).then(() => order.push(sid));
    await timed.lifecycle.stop("base");
    expect(order).toEqual(["se_b", id]);
  });

  test("counts as ready when its port takes connections", async () => {
    const timed = await open(["listen", "8080"], { readiness: { port: 8080 } });
    await timed.settled();
    expect(await supervision(timed)).toMatchObject({ state: "ready" });
    const closed = await open(["sleep", "600"], { readiness: { port: 8080, timeoutMs: 500 } });
    await closed.settled();
    expect(await supervision(closed)).toMatchObject({ state: "starting" });
    await closed.pass(500);
    await closed.pass(500);
    expect(await supervision(closed)).toMatchObject({ state: "backoff" });
  });

  test("counts as ready when it says so, and is killed when it does not in time", async () => {
    const timed = await open(["sleep", "600"], { readiness: { argv: ["true"], timeoutMs: 1000 } });
    await timed.settled();
    expect(await supervision(timed)).toMatchObject({ state: "ready" });
    const never = await open(["sleep", "600"], { readiness: { argv: ["false"], timeoutMs: 1000, intervalMs: 100 } });
    await never.settled();
    expect(await supervision(never)).toMatchObject({ state: "starting" });
    for (let step = 0; step < 11; step++) await never.pass(100);
    expect(await supervision(never)).toMatchObject({ state: "backoff", lastEnd: { exitCode: 137 } });
    // What asked is not left behind.
    expect((await never.lifecycle.sessions.list("base")).map((session) => session.id)).toEqual([id]);
  });
});
