import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type ServerHttp2Session } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter, Http2SessionManager } from "@connectrpc/connect-node";
import { expect, onTestFinished, test, vi } from "vitest";
import { directStream } from "./direct-stream.ts";
import { type AttachResponse, SessionErrorSchema, Sessions, Stream } from "./protocol/torpor/guest/v1/guest_pb.ts";

test("messages come as they were sent, whole, whatever pieces they come in", async () => {
  const sizes = [0, 1, 16_384, 300_000, 5];
  await using it = await answering(async function* () {
    for (const [seq, size] of sizes.entries()) yield output(seq, size);
  });
  const seen: Buffer[] = [];
  for await (const message of it.run()) seen.push(bytesOf(message));
  expect(seen).toEqual(sizes.map((size, seq) => Buffer.alloc(size, seq)));
});

test("an error comes after the messages before it, with its code, words and details", async () => {
  await using it = await answering(async function* () {
    yield output(1, 1);
    throw new ConnectError("no such program", Code.NotFound, undefined, [{ desc: SessionErrorSchema, value: { exitCode: 127 } }]);
  });
  const messages = it.run();
  expect((await messages.next()).done).toBe(false);
  const failure = await messages.next().catch((error: unknown) => error as ConnectError);
  expect(failure).toMatchObject({ code: Code.NotFound, rawMessage: "no such program" });
  expect((failure as ConnectError).findDetails(SessionErrorSchema)).toMatchObject([{ exitCode: 127 }]);
});

test("who leaves breaks the call off, and the line goes on", async () => {
  const cancelled = Promise.withResolvers<void>();
  await using it = await answering(async function* (signal) {
    signal.addEventListener("abort", () => cancelled.resolve());
    for (let seq = 0; !signal.aborted; seq++) {
      yield output(seq, 10);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  for await (const _ of it.run()) break;
  await cancelled.promise;
  expect(it.sessions()).toBe(1);
});

test("a signal breaks a call off that waits, and one that has not begun", async () => {
  const cancelled = Promise.withResolvers<void>();
  await using it = await answering(async function* (signal) {
    yield output(1, 1);
    await once(signal, "abort");
    cancelled.resolve();
  });
  const leave = new AbortController();
  const messages = it.run(leave.signal);
  await messages.next();
  const next = messages.next();
  leave.abort();
  await expect(next).rejects.toMatchObject({ code: Code.Canceled });
  await cancelled.promise;
  await expect(it.run(leave.signal).next()).rejects.toMatchObject({
    code: Code.Canceled,
  });
});

test("who does not read has the guest wait", async () => {
  let sent = 0;
  await using it = await answering(async function* () {
    for (let seq = 0; seq < 1000; seq++) {
      yield output(seq, 64 * 1024);
      sent += 1;
    }
  });
  const messages = it.run();
  await messages.next();
  for (let before = -1; before !== sent; ) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(sent).toBeLessThan(500);
  let count = 1;
  for (let next = await messages.next(); next.done !== true; next = await messages.next()) count += 1;
  expect(count).toBe(1000);
});

test("a message that is longer than any of a guest's is refused", async () => {
  // The server tells that its answer was cut off.
  const words = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => words.mockRestore());
  await using it = await answering(async function* () {
    yield output(1, 5 * 1024 * 1024);
  });
  await expect(it.run().next()).rejects.toMatchObject({ rawMessage: expect.stringMatching(/^the guest sent a message of 52\d{5} bytes$/) });
});

test("a line that breaks fails the call", async () => {
  await using it = await answering(async function* (signal) {
    yield output(1, 1);
    await once(signal, "abort");
  });
  const messages = it.run();
  await messages.next();
  const next = messages.next();
  it.breakLine();
  await expect(next).rejects.toBeInstanceOf(ConnectError);
});

test("a method that an older guest does not have is unimplemented; nobody at the socket is told by its cause", async () => {
  await using it = await answering(undefined);
  await expect(it.run().next()).rejects.toMatchObject({ code: Code.Unimplemented });
  const nobody = clientOf(path.join(tmpdir(), "torpor-nobody.sock"));
  await expect(nobody.run().next()).rejects.toMatchObject({
    cause: { syscall: "connect" },
  });
});

function output(seq: number, size: number) {
  return { event: { case: "output" as const, value: { seq: BigInt(seq), stream: Stream.STDOUT, data: Buffer.alloc(size, seq) } } };
}

function bytesOf({ event }: AttachResponse): Buffer {
  return Buffer.from(event.case === "output" ? event.value.data : []);
}

/** A server that answers `run` so; undefined: it has no such method. */
async function answering(answer: ((signal: AbortSignal) => AsyncGenerator<ReturnType<typeof output>>) | undefined) {
  const directory = await mkdtemp(path.join(tmpdir(), "torpor-streams-"));
  const socket = path.join(directory, "guest.sock");
  const routes = (router: ConnectRouter) => {
    if (answer !== undefined) router.rpc(Sessions.method.run, (_, { signal }) => answer(signal));
  };
  const server = createServer(connectNodeAdapter({ routes }));
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => sessions.add(session));
  server.listen(socket);
  await once(server, "listening");
  const { run, manager } = clientOf(socket);
  return {
    run,
    sessions: () => sessions.size,
    breakLine: () => {
      for (const session of sessions) session.destroy();
    },
    async [Symbol.asyncDispose]() {
      manager.abort();
      for (const session of sessions) session.destroy();
      server.close();
      await rm(directory, { recursive: true });
    },
  };
}

function clientOf(socket: string) {
  const manager = new Http2SessionManager("http://guest", {}, { createConnection: () => connect(socket) });
  const run = (signal?: AbortSignal) => directStream(manager, Sessions.method.run, { sessionId: "s" }, signal);
  return { run, manager };
}
