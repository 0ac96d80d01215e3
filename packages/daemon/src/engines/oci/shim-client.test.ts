import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ShimClient } from "./shim-client.ts";

const deaf = { ended: () => {}, held: () => {}, closed: () => {} };

test("a shim that was killed fails the calls to it, and nothing else", async () => {
  const socketPath = await listen((socket) => socket.destroy());
  let closed = 0;
  const client = await ShimClient.open(socketPath, { ...deaf, closed: () => closed++ });
  // One of them meets a connection that broke and is not yet known to be closed.
  const outcomes = await Promise.allSettled([
    client.status(),
    new Promise((resolve) => setImmediate(resolve)).then(() => client.status()),
    client.memoryBytes(),
  ]);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "engine_failed" } });
  }
  expect(closed).toBe(1);
  await expect(client.thaw()).rejects.toMatchObject({ code: "engine_failed", message: "the shim is gone" });
});

test("a shim that was killed while it wrote fails the call, and ends nothing else", async () => {
  const socketPath = await listen((socket) => socket.once("data", () => socket.end('{"id":1,"result":{"state":"run')));
  const client = await ShimClient.open(socketPath, deaf);
  await expect(client.status()).rejects.toMatchObject({ code: "engine_failed", message: "the shim ended during the call" });
});

test("no shim at all is an error with a code", async () => {
  const nowhere = path.join(tmpdir(), "torpor-no-shim.sock");
  await expect(ShimClient.open(nowhere, deaf)).rejects.toMatchObject({ code: "engine_failed" });
});

test("holds and their ends are told in their order", async () => {
  const hold = { since: "2026-01-01T00:00:00Z", freeBytes: 1 };
  const socketPath = await listen((socket) => socket.end(`${JSON.stringify({ event: "held", result: hold })}\n{"event":"held"}\n`));
  const heard: unknown[] = [];
  await new Promise<void>((closed) => void ShimClient.open(socketPath, { ...deaf, held: (one) => heard.push(one), closed }));
  expect(heard).toEqual([hold, null]);
});

async function listen(serve: (socket: Socket) => void): Promise<string> {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-shim-client-"));
  const server = createServer(serve).listen(path.join(directory, "shim.sock"));
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return path.join(directory, "shim.sock");
}
