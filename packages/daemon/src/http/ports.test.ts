import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { TorporClient } from "@torpor/sdk";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
let client: TorporClient;
beforeAll(async () => {
  server = await startTestServer({ unsupported: [] });
  await server.served.lifecycle.recover();
  client = new TorporClient({ socket: server.socketPath });
  await client.create({ image: "debian", name: "base" });
});
afterAll(async () => {
  client.close();
  await server[Symbol.asyncDispose]();
});

const open: Server[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

async function listening(handle: (socket: Socket) => void): Promise<number> {
  const listener = createServer({ allowHalfOpen: true }, handle).listen(0, "127.0.0.1");
  open.push(listener);
  await once(listener, "listening");
  return (listener.address() as { port: number }).port;
}

test("bytes go both ways, and each side ends its own", async () => {
  const port = await listening((socket) => {
    buffer(socket).then(
      (all) => socket.end(all.reverse()),
      () => {},
    );
  });
  const content = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => index % 251));
  const stream = await client.ports.connect("base", port);
  const back = buffer(stream);
  stream.end(content);
  expect((await back).equals(Buffer.from(content).reverse())).toBe(true);
});

test("a program that takes nothing holds up who writes, not the daemon", async () => {
  const port = await listening((socket) => void socket.pause());
  const stream = await client.ports.connect("base", port);
  let written = 0;
  const chunk = Buffer.alloc(256 * 1024);
  while (stream.write(chunk) || (await drained(stream))) written += chunk.length;
  expect(written).toBeLessThan(64 * 2 ** 20);
  stream.destroy();
});

/** false: nothing is taken any more. */
function drained(stream: NodeJS.WritableStream): Promise<boolean> {
  return Promise.race([once(stream, "drain").then(() => true), new Promise<boolean>((resolve) => setTimeout(resolve, 500, false))]);
}

test("N03: a port on which nothing listens is refused with its number, before the connection is one", async () => {
  // None that was free: others may have been given it by now.
  const port = 1;
  await expect(client.ports.connect("base", port)).rejects.toMatchObject({
    code: "port_closed",
    message: `nothing listens on port ${port} in the sandbox`,
  });
  const answer = await server.app.inject({ url: "/v1/sandboxes/base/ports/70000/connect" });
  expect(answer.statusCode).toBe(400);
});

test("a program that ends, or breaks off, ends the stream", async () => {
  const port = await listening((socket) => socket.once("data", () => socket.resetAndDestroy()));
  const stream = await client.ports.connect("base", port);
  const failed = once(stream, "error");
  stream.write("x");
  stream.resume();
  await expect(failed).resolves.toMatchObject([{ code: "daemon_unreachable" }]);
});

test("ports with an address are kept in the record, changed when asked for again, and taken away", async () => {
  expect(await client.ports.expose("base", 8080)).toMatchObject({
    port: 8080,
    public: false,
    url: null,
    label: expect.stringMatching(/^8080-[a-z2-7]{16}$/),
  });
  expect(await client.ports.expose("base", 8080, { public: true })).toMatchObject({ public: true });
  await client.ports.expose("base", 3000);
  expect((await client.ports.list("base")).map(({ port }) => port)).toEqual([8080, 3000]);
  expect((await client.get("base")).ports).toMatchObject([{ port: 8080 }, { port: 3000 }]);
  await client.ports.unexpose("base", 8080);
  await expect(client.ports.unexpose("base", 8080)).rejects.toMatchObject({ code: "port_not_exposed" });
  const types = (await client.events("base")).map(({ type }) => type).filter((type) => type.startsWith("port."));
  expect(types).toEqual(["port.exposed", "port.exposed", "port.exposed", "port.unexposed"]);
});

test("N04: a forked child has none of its parent's addresses; over pause and resume they stay", async () => {
  await client.ports.expose("base", 4000);
  const { operation } = await client.fork("base", { name: "child" });
  expect(operation?.status).toBe("succeeded");
  expect((await client.get("child")).ports).toEqual([]);
  await client.pause("base");
  await client.resume("base");
  expect((await client.ports.list("base")).map(({ port }) => port)).toContain(4000);
});

test("a connection to a paused sandbox that wakes for calls resumes it", async () => {
  const port = await listening((socket) => socket.end("hello"));
  await client.update("base", { autoResume: true });
  await client.pause("base");
  const stream = await client.ports.connect("base", port);
  expect((await buffer(stream)).toString()).toBe("hello");
  expect((await client.get("base")).state).toBe("running");
});
