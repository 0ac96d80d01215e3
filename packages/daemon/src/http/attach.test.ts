import { createHash, randomBytes } from "node:crypto";
import { closeCodes, frameKinds, type Session, type StartSessionRequest } from "@torpor/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SessionSocket, startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await post("/v1/sandboxes", { image: "debian", name: "base" });
});
afterAll(async () => server[Symbol.asyncDispose]());

const post = (url: string, payload: object = {}) => server.app.inject({ method: "POST", url, payload });
const pathOf = (id: string, sandbox = "base") => `/v1/sandboxes/${sandbox}/sessions/${id}`;

async function start(request: StartSessionRequest, sandbox = "base"): Promise<Session> {
  const answer = await post(`/v1/sandboxes/${sandbox}/sessions`, request);
  expect(answer.statusCode).toBe(201);
  return answer.json();
}

const attach = (id: string, query = "", sandbox = "base") => SessionSocket.open(server, `${pathOf(id, sandbox)}/attach?${query}`);

async function ended(id: string): Promise<Session> {
  const reader = await attach(id, "hold=true");
  await reader.closed;
  return (await server.app.inject(pathOf(id))).json();
}

test("Y03: a network that drops leaves the shell, and what it said meanwhile comes once", async () => {
  const { id, pid } = await start({ argv: ["sh", "-c", "echo pid $$; while read line; do echo got $line; done"], stdin: true });
  const first = await attach(id, "client=me");
  await first.until(() => first.output.includes("pid"));
  expect(first.output).toBe(`pid ${pid}\n`);
  first.cut();
  await server.app.inject({
    method: "POST",
    url: `${pathOf(id)}/input`,
    headers: { "content-type": "application/octet-stream" },
    payload: "in the gap\n",
  });
  const second = await attach(id, `client=me&after=${first.lastSeq}`);
  second.type(0, "after it\n");
  second.send(frameKinds.stdinEnd);
  expect(await second.closed).toBe(closeCodes.ended);
  expect(second.output).toBe("got in the gap\ngot after it\n");
});

test("Y03: whoever comes back under the same name ends the connection that nobody has told of its end", async () => {
  const { id } = await start({ argv: ["cat"], stdin: true });
  const [dead, other] = [await attach(id, "client=me"), await attach(id, "client=other")];
  await Promise.all([dead.has(frameKinds.live), other.has(frameKinds.live)]);
  // Its network is gone: it reads nothing, and does not answer a closing either.
  dead.socket.pause();
  const again = await attach(id, "client=me");
  await again.has(frameKinds.live);
  dead.socket.resume();
  expect(await dead.closed).toBe(1006);
  again.type(0, "typed\n");
  await Promise.all([again, other].map((one) => one.until(() => one.output === "typed\n")));
  again.send(frameKinds.stdinEnd);
  expect(await other.closed).toBe(closeCodes.ended);
});

test("Y04: ten cuts at random, and each number comes once and in order", async () => {
  const { id } = await start({ argv: ["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo $i; done"] });
  let text = "";
  let after = 0;
  for (let cuts = 0; ; cuts++) {
    const reader = await attach(id, `after=${after}`);
    const stopAt = cuts < 10 ? text.length + 1 + (randomBytes(2).readUInt16BE() % 4000) : Number.POSITIVE_INFINITY;
    await reader.until(() => reader.isClosed || text.length + reader.output.length >= stopAt);
    reader.cut();
    text += reader.output;
    after = Math.max(after, reader.lastSeq);
    if (reader.frames.some(({ kind }) => kind === frameKinds.end)) break;
  }
  expect(text).toBe(Array.from({ length: 20_000 }, (_, at) => `${at + 1}\n`).join(""));
});

test("Y06: what was there before is told from what is new, so that no terminal answers a query of the past", async () => {
  const { id } = await start({ argv: ["sh", "-c", "printf '\\033[6n\\033[c'; read go; printf '\\033[5n'"], stdin: true });
  const first = await attach(id, "client=a");
  await first.until(() => first.output.length === 7);
  first.cut();
  const again = await attach(id, "client=b");
  await again.has(frameKinds.live);
  const kinds = again.frames.map(({ kind }) => kind).filter((kind) => kind !== frameKinds.inputTaken);
  expect(kinds).toEqual([frameKinds.started, frameKinds.stdout, frameKinds.live]);
  again.type(0, "go\n");
  await again.closed;
  const live = again.frames.findIndex(({ kind }) => kind === frameKinds.live);
  expect(again.frames.slice(0, live).some(({ data }) => data.includes("\x1b[6n"))).toBe(true);
  expect(again.frames.slice(live).some(({ data }) => data.includes("\x1b[5n"))).toBe(true);
  // Nothing was there before a command that begins with its connection.
  const fresh = await SessionSocket.open(server, "/v1/sandboxes/base/exec");
  fresh.socket.send(JSON.stringify({ argv: ["echo", "x"] }));
  await fresh.closed;
  expect(fresh.frames.slice(0, 2).map(({ kind }) => kind)).toEqual([frameKinds.started, frameKinds.live]);
});

test("Y07: an end, a pause, a take-over and a wrong message close the connection each in its own way", async () => {
  const { id: short } = await start({ argv: ["true"] });
  expect(await (await attach(short)).closed).toBe(closeCodes.ended);
  const { id } = await start({ argv: ["sleep", "600"] });
  const [writer, reader] = [await attach(id), await attach(id, "mode=read")];
  await Promise.all([writer.has(frameKinds.live), reader.has(frameKinds.live)]);
  const taker = await attach(id, "takeover=true");
  expect(await writer.closed).toBe(closeCodes.kicked);
  reader.send(frameKinds.stdin, "x");
  expect(await reader.closed).toBe(closeCodes.refused);
  await taker.has(frameKinds.live);
  const { id: doomed } = await start({ argv: ["sleep", "600"] });
  await server.app.inject({ method: "DELETE", url: `${pathOf(id)}?force=true` });
  expect(await taker.closed).toBe(closeCodes.ended);
  await post("/v1/sandboxes", { image: "debian", name: "sleeper" });
  const { id: sleeping } = await start({ argv: ["sleep", "600"] }, "sleeper");
  const paused = await attach(sleeping, "", "sleeper");
  await paused.has(frameKinds.live);
  await post("/v1/sandboxes/sleeper/pause");
  expect(await paused.closed).toBe(closeCodes.paused);
  expect(paused.end.reason).toBe("paused");
  // The new one of the same kind is not touched by the end of the old one.
  expect((await server.app.inject(pathOf(doomed))).json().end).toBeNull();
});

test("Y09: a paste of 100 KiB that is cut in the middle arrives once and whole", async () => {
  const paste = Buffer.from("é🦥 ".repeat(14_629)).subarray(0, 102_400);
  const { id } = await start({ argv: ["sha256sum"], stdin: true });
  const first = await attach(id, "client=page-1");
  await first.has(frameKinds.inputTaken);
  for (let at = 0; at < 60_000; at += 8192) first.type(at, paste.subarray(at, at + 8192));
  await first.until(() => first.frames.some(({ kind, seq }) => kind === frameKinds.inputTaken && seq > 0));
  first.cut();
  const second = await attach(id, "client=page-1");
  await second.has(frameKinds.inputTaken);
  const taken = second.frames.find(({ kind }) => kind === frameKinds.inputTaken)?.seq ?? -1;
  expect(taken).toBeGreaterThan(0);
  // What it knows to have arrived is not sent again; the rest is, and some of it for the second time.
  for (let at = taken; at < paste.length; at += 8192) second.type(at, paste.subarray(at, at + 8192));
  second.send(frameKinds.stdinEnd);
  await second.closed;
  expect(second.output.split(" ")[0]).toBe(createHash("sha256").update(paste).digest("hex"));
});

test("input by calls: a repeat is not typed twice, and a gap is refused", async () => {
  const { id } = await start({ argv: ["cat"], stdin: true });
  const give = (query: string, payload: string) =>
    server.app.inject({ method: "POST", url: `${pathOf(id)}/input?${query}`, payload, headers: { "content-type": "text/plain" } });
  expect((await give("client=c&offset=0", "one ")).json()).toEqual({ taken: 4 });
  expect((await give("client=c&offset=0", "one ")).json()).toEqual({ taken: 4 });
  expect((await give("client=c&offset=2", "e two")).json()).toEqual({ taken: 7 });
  expect((await give("client=c&offset=99", "x")).json()).toMatchObject({ error: { code: "invalid_request" } });
  expect((await give("offset=4", "x")).statusCode).toBe(400);
  expect((await give("end=true", "!")).statusCode).toBe(200);
  const reader = await attach(id);
  await reader.closed;
  expect(reader.output).toBe("one two!");
});

test("output that is no longer kept is refused with 410 and the oldest there is, and from there on all of it comes", async () => {
  // In pieces: the next comes when the one before was read.
  const { id } = await start({ argv: ["sh", "-c", "while read next; do head -c 5000 /dev/zero; done"], stdin: true, journalBytes: 8192 });
  const asking = await attach(id, "hold=false");
  for (let pieces = 1; pieces <= 4; pieces++) {
    asking.send(frameKinds.stdin, "next\n");
    await asking.until(() => asking.output.length === pieces * 5000);
  }
  asking.send(frameKinds.stdinEnd);
  await asking.closed;
  const { firstSeq, lastSeq }: Session = (await server.app.inject(pathOf(id))).json();
  expect(firstSeq).toBeGreaterThan(1);
  const refused = await server.app.inject({ url: `${pathOf(id)}/attach`, headers: { accept: "text/event-stream" } });
  expect(refused.statusCode).toBe(410);
  expect(refused.json()).toMatchObject({ error: { code: "session_output_gone", details: { oldest: firstSeq } } });
  await expect(attach(id, `after=${firstSeq - 2}`)).rejects.toThrow("410");
  const boundary = await attach(id, `after=${firstSeq - 1}`);
  await boundary.closed;
  expect(boundary.frames.filter(({ kind }) => kind === frameKinds.stdout).map(({ seq }) => seq)[0]).toBe(firstSeq);
  const atEnd = await attach(id, `after=${lastSeq}`);
  await atEnd.closed;
  expect(atEnd.frames.map(({ kind }) => kind)).toEqual([frameKinds.started, frameKinds.live, frameKinds.end]);
  await expect(attach(id, `after=${lastSeq + 1}`)).rejects.toThrow("400");
});

test("the size is whoever's set it last, and all others are told", async () => {
  const { id } = await start({ argv: ["sleep", "600"], terminal: { rows: 24, columns: 80 } });
  const [one, two, looker] = [await attach(id), await attach(id), await attach(id, "mode=read")];
  await Promise.all([one, two, looker].map((client) => client.has(frameKinds.live)));
  one.send(frameKinds.resize, JSON.stringify({ rows: 30, columns: 100 }));
  await two.has(frameKinds.resized);
  await looker.has(frameKinds.resized);
  expect(looker.json(frameKinds.resized)).toEqual({ rows: 30, columns: 100 });
  await post(`${pathOf(id)}/resize`, { rows: 40, columns: 120 });
  await one.has(frameKinds.resized);
  expect(one.json(frameKinds.resized)).toEqual({ rows: 40, columns: 120 });
  expect((await server.app.inject(pathOf(id))).json().size).toEqual({ rows: 40, columns: 120 });
  looker.send(frameKinds.resize, JSON.stringify({ rows: 1, columns: 1 }));
  expect(await looker.closed).toBe(closeCodes.refused);
  for (const client of [one, two]) client.cut();
  await server.app.inject({ method: "DELETE", url: `${pathOf(id)}?force=true` });
});

test("server-sent events carry the same, go on after Last-Event-ID, and do not come back after the end", async () => {
  const { id } = await start({ argv: ["sh", "-c", "echo one; echo two >&2; exit 3"] });
  await ended(id);
  const read = async (headers: Record<string, string>) =>
    server.app.inject({ url: `${pathOf(id)}/attach`, headers: { accept: "text/event-stream", ...headers } });
  const events = (await read({})).body
    .split("\n\n")
    .map((block) => Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s))));
  expect(events.map(({ event }) => event).filter(Boolean)).toEqual(["started", "output", "output", "live", "end"]);
  expect(JSON.parse(events[1]?.data)).toEqual({ seq: 1, stream: "stdout", data: Buffer.from("one\n").toString("base64") });
  expect(events[2]?.id).toBe("2");
  expect(JSON.parse(events[4]?.data)).toMatchObject({ reason: "exited", exitCode: 3 });
  expect((await read({ "last-event-id": "1" })).body).not.toContain("event: output\nid: 1");
  expect((await read({ "last-event-id": "2" })).statusCode).toBe(204);
  expect((await server.app.inject(`${pathOf(id)}/attach`)).json()).toMatchObject({ error: { code: "invalid_request" } });
});
