import { createHash } from "node:crypto";
import { once } from "node:events";
import { closeCodes, frameKinds, type StartSessionRequest } from "@torpor/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SessionSocket, startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await post("/v1/sandboxes", { image: "debian", name: "base" });
});
afterAll(async () => server[Symbol.asyncDispose]());

const post = (url: string, payload: object = {}) => server.app.inject({ method: "POST", url, payload });

async function open(start: StartSessionRequest, sandbox = "base"): Promise<SessionSocket> {
  const client = await SessionSocket.open(server, `/v1/sandboxes/${sandbox}/exec`);
  client.socket.send(JSON.stringify(start));
  return client;
}

const attach = (sandbox: string, id: string, query = "") =>
  SessionSocket.open(server, `/v1/sandboxes/${sandbox}/sessions/${id}/attach?${query}`);
const outputOf = ({ frames }: SessionSocket, kind: number) =>
  Buffer.concat(frames.filter((frame) => frame.kind === kind).map(({ data }) => data));
const idOf = (client: SessionSocket) => (client.json(frameKinds.started) as { id: string }).id;

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
  const client = await open({ argv: ["sh", "-c", "echo one; echo two >&2; kill -9 $$"] });
  await client.closed;
  expect(client.frames[0]?.kind).toBe(frameKinds.started);
  expect(outputOf(client, frameKinds.stdout).toString()).toBe("one\n");
  expect(outputOf(client, frameKinds.stderr).toString()).toBe("two\n");
  expect(client.frames.filter(({ seq }) => seq > 0).map(({ seq }) => seq)).toEqual([1, 2]);
  expect(client.end).toMatchObject({ reason: "exited", exitCode: 137, signal: "SIGKILL" });
});

test("E10: the end of the input does not cut the output", async () => {
  const client = await open({ argv: ["sh", "-c", "cat; echo after"], stdin: true });
  client.send(frameKinds.stdin, "hi\n");
  client.send(frameKinds.stdinEnd);
  await client.closed;
  expect(outputOf(client, frameKinds.stdout).toString()).toBe("hi\nafter\n");
  expect(client.end.exitCode).toBe(0);
});

test("input for a process that is slow to take it arrives whole", async () => {
  const client = await open({ argv: ["sh", "-c", "sleep 0.3; wc -c"], stdin: true });
  for (let sent = 0; sent < 80; sent++) client.send(frameKinds.stdin, Buffer.alloc(256 * 1024));
  client.send(frameKinds.stdinEnd);
  await client.closed;
  expect(client.output.trim()).toBe(String(80 * 256 * 1024));
});

test("a refusal comes before the socket; what fails after it is a frame", async () => {
  await expect(server.app.injectWS("/v1/sandboxes/nope/exec")).rejects.toThrow("404");
  const { frames, closed } = await open({ argv: ["nosuch"] });
  expect(await closed).toBe(closeCodes.failed);
  expect(JSON.parse(String(frames[0]?.data))).toMatchObject({ error: { code: "command_not_started", details: { exitCode: 127 } } });
  const wrong = await open({ argv: "ls" } as unknown as StartSessionRequest);
  await wrong.closed;
  expect(JSON.parse(String(wrong.frames[0]?.data))).toMatchObject({
    error: { code: "invalid_request", message: expect.stringContaining("argv") },
  });
});

test("E28: a pause ends the stream with that reason, and the output that was missed comes after the resume, once", async () => {
  await post("/v1/sandboxes", { image: "debian", name: "sleeper" });
  const client = await open({ argv: ["sh", "-c", "echo 1; read go; echo 2; echo 3"], stdin: true }, "sleeper");
  await client.has(frameKinds.stdout);
  await post("/v1/sandboxes/sleeper/pause");
  await client.closed;
  expect(client.end).toMatchObject({ reason: "paused", exitCode: null });
  await post("/v1/sandboxes/sleeper/resume");
  const again = await attach("sleeper", idOf(client), "after=1");
  again.send(frameKinds.stdin, "go\n");
  await again.closed;
  expect(again.output).toBe("2\n3\n");
  expect(again.end).toMatchObject({ reason: "exited", exitCode: 0 });
});

test("E09: a client that is gone leaves the process running, listed and killable", async () => {
  const client = await open({ argv: ["sleep", "600"] });
  await client.has(frameKinds.started);
  client.cut();
  const id = idOf(client);
  const session = await server.app.inject(`/v1/sandboxes/base/sessions/${id}`);
  expect(session.json()).toMatchObject({ end: null });
  expect((await post(`/v1/sandboxes/base/sessions/${id}/signal`, { signal: "TERM" })).statusCode).toBe(204);
  const attached = await attach("base", id);
  await attached.closed;
  expect(attached.end).toMatchObject({ exitCode: 143 });
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
  const client = await open({ argv: ["sleep", "600"] });
  await client.has(frameKinds.started);
  client.send(99);
  expect(await client.closed).toBe(1008);
  const id = idOf(client);
  expect((await server.app.inject({ method: "DELETE", url: `/v1/sandboxes/base/sessions/${id}?force=true` })).statusCode).toBe(204);
});
