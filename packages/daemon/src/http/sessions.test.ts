import { createHash } from "node:crypto";
import { once } from "node:events";
import { frameKinds, type SessionEnd, type StartSessionRequest } from "@torpor/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await post("/v1/sandboxes", { image: "debian", name: "base" });
});
afterAll(async () => server[Symbol.asyncDispose]());

const post = (url: string, payload: object = {}) => server.app.inject({ method: "POST", url, payload });

type Socket = Awaited<ReturnType<TestServer["app"]["injectWS"]>>;
interface Frame {
  readonly kind: number;
  readonly seq: number;
  readonly data: Buffer;
}

async function open(start: StartSessionRequest, sandbox = "base"): Promise<{ socket: Socket; frames: Frame[]; closed: Promise<unknown> }> {
  return collect(await server.app.injectWS(`/v1/sandboxes/${sandbox}/exec`), (socket) => socket.send(JSON.stringify(start)));
}

function collect(socket: Socket, begin: (socket: Socket) => void) {
  const frames: Frame[] = [];
  socket.on("message", (message: Buffer) => {
    const kind = message[0] as number;
    const output = kind >= frameKinds.stdout && kind <= frameKinds.terminal;
    frames.push({ kind, seq: output ? Number(message.readBigUInt64BE(1)) : 0, data: message.subarray(output ? 9 : 1) });
  });
  const closed = once(socket, "close");
  begin(socket);
  return { socket, frames, closed };
}

const outputOf = (frames: readonly Frame[], kind: number) =>
  Buffer.concat(frames.filter((frame) => frame.kind === kind).map(({ data }) => data));
const endOf = (frames: readonly Frame[]) => JSON.parse(String(frames.find(({ kind }) => kind === frameKinds.end)?.data)) as SessionEnd;

test("E13: exec answers with both streams as they were, and the code", async () => {
  const answer = await post("/v1/sandboxes/base/exec", { argv: ["sh", "-c", "printf 'a\\n\\nb\\r\\n\\n\\tc'; printf e >&2; exit 3"] });
  const { stdout, stderr, end, lostBytes } = answer.json();
  expect(Buffer.from(stdout, "base64").toString("hex")).toBe("610a0a620d0a0a0963");
  expect(Buffer.from(stderr, "base64").toString()).toBe("e");
  expect({ end, lostBytes }).toMatchObject({ end: { reason: "exited", exitCode: 3 }, lostBytes: 0 });
});

test("exec keeps the last 8 MiB and counts what it dropped", async () => {
  const answer = await post("/v1/sandboxes/base/exec", { argv: ["sh", "-c", "head -c 9437184 /dev/zero; printf END"] });
  const { stdout, lostBytes } = answer.json();
  const kept = Buffer.from(stdout, "base64");
  expect(kept.length).toBe(8 * 1024 * 1024);
  expect(kept.subarray(-3).toString()).toBe("END");
  expect(lostBytes).toBe(9_437_184 + 3 - kept.length);
});

test("exec gives its input and its end", async () => {
  const answer = await post("/v1/sandboxes/base/exec", { argv: ["cat"], input: Buffer.from("in").toString("base64") });
  expect(Buffer.from(answer.json().stdout, "base64").toString()).toBe("in");
});

test("the socket tells of the start, the output in sequence, and the end", async () => {
  const { frames, closed } = await open({ argv: ["sh", "-c", "echo one; echo two >&2; kill -9 $$"] });
  await closed;
  expect(frames[0]?.kind).toBe(frameKinds.started);
  expect(outputOf(frames, frameKinds.stdout).toString()).toBe("one\n");
  expect(outputOf(frames, frameKinds.stderr).toString()).toBe("two\n");
  expect(frames.filter(({ seq }) => seq > 0).map(({ seq }) => seq)).toEqual([1, 2]);
  expect(endOf(frames)).toMatchObject({ reason: "exited", exitCode: 137, signal: "SIGKILL" });
});

test("E10: the end of the input does not cut the output", async () => {
  const { socket, frames, closed } = await open({ argv: ["sh", "-c", "cat; echo after"], stdin: true });
  socket.send(Buffer.from([frameKinds.stdin, ...Buffer.from("hi\n")]));
  socket.send(Buffer.of(frameKinds.stdinEnd));
  await closed;
  expect(outputOf(frames, frameKinds.stdout).toString()).toBe("hi\nafter\n");
  expect(endOf(frames).exitCode).toBe(0);
});

test("input for a process that is slow to take it arrives whole", async () => {
  const { socket, frames, closed } = await open({ argv: ["sh", "-c", "sleep 0.3; wc -c"], stdin: true });
  const piece = Buffer.concat([Buffer.of(frameKinds.stdin), Buffer.alloc(256 * 1024)]);
  for (let sent = 0; sent < 80; sent++) socket.send(piece);
  socket.send(Buffer.of(frameKinds.stdinEnd));
  await closed;
  expect(outputOf(frames, frameKinds.stdout).toString().trim()).toBe(String(80 * 256 * 1024));
});

test("a refusal comes before the socket; what fails after it is a frame", async () => {
  await expect(server.app.injectWS("/v1/sandboxes/nope/exec")).rejects.toThrow("404");
  const { frames, closed } = await open({ argv: ["nosuch"] });
  await closed;
  expect(JSON.parse(String(frames[0]?.data))).toMatchObject({ error: { code: "command_not_started", details: { exitCode: 127 } } });
  const wrong = await open({ argv: "ls" } as unknown as StartSessionRequest);
  await wrong.closed;
  expect(JSON.parse(String(wrong.frames[0]?.data))).toMatchObject({
    error: { code: "invalid_request", message: expect.stringContaining("argv") },
  });
});

test("E28: a pause ends the stream with that reason, and the output that was missed comes after the resume, once", async () => {
  await post("/v1/sandboxes", { image: "debian", name: "sleeper" });
  const { frames, closed } = await open({ argv: ["sh", "-c", "echo 1; read go; echo 2; echo 3"], stdin: true }, "sleeper");
  while (outputOf(frames, frameKinds.stdout).length === 0) await new Promise(setImmediate);
  await post("/v1/sandboxes/sleeper/pause");
  await closed;
  expect(endOf(frames)).toMatchObject({ reason: "paused", exitCode: null });
  await post("/v1/sandboxes/sleeper/resume");
  const { id } = JSON.parse(String(frames[0]?.data));
  const again = collect(await server.app.injectWS(`/v1/sandboxes/sleeper/sessions/${id}/attach?after=1`), (socket) =>
    socket.send(Buffer.from([frameKinds.stdin, ...Buffer.from("go\n")])),
  );
  await again.closed;
  expect(outputOf(again.frames, frameKinds.stdout).toString()).toBe("2\n3\n");
  expect(endOf(again.frames)).toMatchObject({ reason: "exited", exitCode: 0 });
});

test("E09: a client that is gone leaves the process running, listed and killable", async () => {
  const { socket, frames } = await open({ argv: ["sleep", "600"] });
  while (frames.length === 0) await new Promise(setImmediate);
  socket.terminate();
  const { id } = JSON.parse(String(frames[0]?.data));
  const session = await server.app.inject(`/v1/sandboxes/base/sessions/${id}`);
  expect(session.json()).toMatchObject({ end: null });
  expect((await post(`/v1/sandboxes/base/sessions/${id}/signal`, { signal: "TERM" })).statusCode).toBe(204);
  const attached = collect(await server.app.injectWS(`/v1/sandboxes/base/sessions/${id}/attach`), () => {});
  await attached.closed;
  expect(endOf(attached.frames)).toMatchObject({ exitCode: 143 });
  expect((await server.app.inject({ method: "DELETE", url: `/v1/sandboxes/base/sessions/${id}` })).statusCode).toBe(204);
});

test("E01: a slow reader gets 20 MB byte for byte, and the process waits for it", async () => {
  const socket = await server.app.injectWS("/v1/sandboxes/base/exec");
  const hash = createHash("sha256");
  let bytes = 0;
  socket.on("message", (message: Buffer) => {
    if (message[0] !== frameKinds.stdout) return;
    hash.update(message.subarray(9));
    bytes += message.length - 9;
    socket.pause();
    setImmediate(() => socket.resume());
  });
  const closed = once(socket, "close");
  socket.send(JSON.stringify({ argv: ["sh", "-c", "yes 0123456789abcde | head -c 20971520"] }));
  await closed;
  expect(bytes).toBe(20_971_520);
  expect(hash.digest("hex")).toBe(createHash("sha256").update("0123456789abcde\n".repeat(1_310_720)).digest("hex"));
});

test("a reader that does not hold lets the process go on without it", async () => {
  const started = await post("/v1/sandboxes/base/sessions", { argv: ["sh", "-c", "head -c 5000000 /dev/zero; echo END"] });
  const { id } = started.json();
  const socket = await server.app.injectWS(`/v1/sandboxes/base/sessions/${id}/attach?hold=false`);
  socket.pause();
  let session = started.json();
  while (session.end === null) {
    // Lets the process's output be read meanwhile.
    await new Promise(setImmediate);
    session = (await server.app.inject(`/v1/sandboxes/base/sessions/${id}`)).json();
  }
  expect(session.end).toMatchObject({ exitCode: 0 });
  socket.terminate();
});

test("a message that no client sends closes the socket and leaves the process", async () => {
  const { socket, frames, closed } = await open({ argv: ["sleep", "600"] });
  while (frames.length === 0) await new Promise(setImmediate);
  socket.send(Buffer.of(99));
  const [code] = (await closed) as [number];
  expect(code).toBe(1008);
  const { id } = JSON.parse(String(frames[0]?.data));
  expect((await server.app.inject({ method: "DELETE", url: `/v1/sandboxes/base/sessions/${id}?force=true` })).statusCode).toBe(204);
});
