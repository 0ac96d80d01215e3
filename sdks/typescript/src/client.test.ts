import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "@torpor/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { calls } from "./calls.ts";
import { type ServerFrame, TorporClient, TorporError } from "./index.ts";
import { against, startDaemon } from "./testing/daemon.ts";

let daemon: Awaited<ReturnType<typeof startDaemon>>;
let client: TorporClient;
beforeAll(async () => {
  daemon = await startDaemon();
  ({ client } = daemon);
  await client.create({ image: "debian", name: "base" });
});
afterAll(() => daemon[Symbol.asyncDispose]());

test("the calls are the routes of the contract", () => {
  const table = Object.fromEntries(Object.entries(routes).map(([name, { method, path }]) => [name, [method, path]]));
  expect(calls).toEqual(table);
});

test("the whole life of a sandbox", async () => {
  const { sandbox } = await client.create({ image: "debian", name: "life" });
  expect(sandbox).toMatchObject({ name: "life", state: "running" });
  expect((await client.pause("life")).sandbox?.state).toBe("paused");
  await expect(client.exec("life", { argv: ["true"] })).rejects.toMatchObject({
    code: "sandbox_not_running",
    message: expect.stringContaining("resume it"),
  });
  expect((await client.resume("life")).operation.result).toMatchObject({ restored: "memory" });
  expect((await client.fork("life", { name: "child" })).operation.result).toMatchObject({ children: [{ name: "child" }] });
  expect((await client.operations("life")).map(({ kind }) => kind)).toEqual(["fork", "resume", "pause", "create"]);
  expect((await client.events("life", { limit: 2 })).length).toBe(2);
  for (const name of ["life", "child"]) await client.remove(name, { force: true });
  expect((await client.list()).map(({ name }) => name)).toEqual(["base"]);
});

test("L04: a file's bytes are what they were, and its name too", async () => {
  const content = randomBytes(300_000);
  const path = "/ü %+#?&/50%.bin";
  await client.files.write("base", path, [content.subarray(0, 1000), content.subarray(1000)] as never, { parents: true, mode: 0o600 });
  const read = await client.files.read("base", path);
  const chunks: Uint8Array[] = [];
  for await (const chunk of read.content) chunks.push(chunk);
  expect(Buffer.concat(chunks).equals(content)).toBe(true);
  expect(read.entry).toMatchObject({ name: "50%.bin", size: 300_000, mode: 0o600 });
});

test("a client that is closed ends its connections to ports too, and keeps none that has ended", async () => {
  const server = createServer((socket) => socket.on("error", () => {}).pipe(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const other = new TorporClient({ socket: daemon.socket });
  const left = await other.ports.connect("base", port);
  const leaving = once(left, "close");
  left.write("echo");
  expect(String((await once(left, "data"))[0])).toBe("echo");
  left.end();
  await leaving;
  const stays = await other.ports.connect("base", port);
  const cut = once(stays, "close");
  other.close();
  await cut;
  expect(stays.destroyed).toBe(true);
  server.close();
});

test("an upload that is refused ends with the refusal, however much is left to send", async () => {
  await client.create({ image: "debian", name: "refusing" });
  await client.pause("refusing");
  let sent = 0;
  async function* endless() {
    for (; sent < 1000; sent++) yield Buffer.alloc(1_000_000);
  }
  await expect(client.files.write("refusing", "/x", endless())).rejects.toMatchObject({ code: "sandbox_not_running" });
  expect(sent).toBeLessThan(1000);
  await client.remove("refusing", { force: true });
});

test("a session's frames, its input and its end", async () => {
  const stream = await client.stream("base", { argv: ["sh", "-c", "cat; exit 3"], stdin: true });
  const frames: ServerFrame[] = [];
  for await (const frame of stream) {
    frames.push(frame);
    if (frame.type !== "started") continue;
    await stream.write(Buffer.from("hi"));
    await stream.end();
  }
  expect(frames.map(({ type }) => type)).toEqual(["started", "live", "output", "end"]);
  expect(frames.at(-1)).toMatchObject({ end: { reason: "exited", exitCode: 3 } });
});

test("a reader that stops reading holds the process up, and gets everything", async () => {
  const stream = await client.stream("base", { argv: ["sh", "-c", "head -c 30000000 /dev/zero; echo written >done"] });
  let bytes = 0;
  let looked = false;
  for await (const frame of stream) {
    if (frame.type !== "output") continue;
    bytes += frame.data.length;
    if (looked) continue;
    looked = true;
    // While nothing is read the process can't have written it all: the pipes and queues between hold far less.
    await expect(client.files.stat("base", "/done")).rejects.toMatchObject({ code: "file_not_found" });
  }
  expect(bytes).toBe(30_000_000);
});

test("a process that does not take its input holds the writer up", async () => {
  const stream = await client.stream("base", { argv: ["sleep", "600"], stdin: true });
  const piece = new Uint8Array(256 * 1024);
  let written = 0;
  // The queues between hold a few MB: without a bound all of it would be taken at once.
  while (written < 64 * 2 ** 20 && (await Promise.race([stream.write(piece).then(() => true), sleep(500, false)]))) written += piece.length;
  expect(written).toBeLessThan(16 * 2 ** 20);
  stream.close();
  for (const { id, end } of await client.sessions("base")) if (end === null) await client.removeSession("base", id, { force: true });
});

test("what is refused when a session starts is thrown", async () => {
  await expect(client.stream("nope", { argv: ["true"] })).rejects.toMatchObject({ code: "sandbox_not_found" });
  const stream = await client.stream("base", { argv: ["nosuch"] });
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "command_not_started", details: { exitCode: 127 } });
});

test("an image's progress is told while it comes", async () => {
  const image = await client.images.pull({ reference: "alpine" }, () => {});
  expect(image.references).toEqual(["alpine"]);
  await expect(client.images.pull({ reference: "nope" })).rejects.toMatchObject({ code: "image_not_found" });
});

describe("without a daemon", () => {
  test("nothing listens: what to do is said", async () => {
    const error = await new TorporClient({ socket: "/nowhere/torpord.sock" }).list().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TorporError);
    expect(error).toMatchObject({
      code: "daemon_unreachable",
      message: expect.stringContaining("torpord is not running"),
      hint: "start it with torpor daemon start",
    });
    await expect(new TorporClient({ socket: "/nowhere/s" }).stream("x", { argv: ["true"] })).rejects.toMatchObject({
      code: "daemon_unreachable",
    });
  });

  test("an address that is none is refused", () => {
    expect(() => new TorporClient({ url: "localhost:80" })).toThrow(/no address/);
    expect(() => new TorporClient({ socket: `/${"x".repeat(120)}` })).toThrow(/107 bytes/);
  });
});

describe("a connection that breaks before an answer", () => {
  let count = 0;
  const keys: unknown[] = [];
  const breaking: RequestListener = (request, answer) => {
    count++;
    keys.push(request.headers["idempotency-key"]);
    if (count < 3) request.socket.destroy();
    else answer.end(JSON.stringify({ sandboxes: [] }));
  };

  test("a call that changes nothing is sent again", async () => {
    count = 0;
    await against(breaking, async (other) => expect(await other.list()).toEqual([]));
    expect(count).toBe(3);
  });

  test("a call that changes something is not", async () => {
    count = 0;
    await against(breaking, async (other) =>
      expect(other.signal("x", "se_y", "TERM")).rejects.toMatchObject({ code: "daemon_unreachable" }),
    );
    expect(count).toBe(1);
  });

  test("A01: a call with an idempotency key is sent again once, with the same; the next has another", async () => {
    count = 0;
    keys.length = 0;
    await against(breaking, async (other) => {
      await expect(other.pause("x")).rejects.toMatchObject({ code: "daemon_unreachable" });
      await other.resume("x", {}, { waitMs: 0 }).catch(() => {});
    });
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0], expect.any(String)]);
    expect(keys[2]).not.toBe(keys[0]);
  });
});

describe("an operation that outlasts the wait of its call", () => {
  const outlasting =
    (error: object | null): RequestListener =>
    (request, answer) => {
      const status = request.method === "POST" ? "running" : error === null ? "succeeded" : "failed";
      const operation = { id: "op_x", kind: "create", sandboxId: "sb_x", status, error: status === "failed" ? error : null };
      answer.writeHead(request.method === "POST" ? 202 : 200);
      if (request.url?.startsWith("/v1/operations/")) answer.end(JSON.stringify(operation));
      else answer.end(JSON.stringify(request.method === "POST" ? { operation, sandbox: null } : { id: "sb_x", state: "running" }));
    };

  test("is followed to its end", () =>
    against(outlasting(null), async (other) => {
      expect(await other.create({ image: "big" })).toMatchObject({ operation: { status: "succeeded" }, sandbox: { state: "running" } });
    }));

  test("throws its error", () =>
    against(outlasting({ code: "registry_failed", message: "it is gone" }), async (other) => {
      await expect(other.create({ image: "big" })).rejects.toMatchObject({ code: "registry_failed", details: { operationId: "op_x" } });
    }));

  test("of several that one call began each is followed, and the failure of one is no error", () => {
    const ends: Record<string, object | null> = { op_a: { code: "engine_failed", message: "it broke" }, op_b: null };
    const operation = (id: string, status: string) => ({ id, kind: "create", sandboxId: `sb_${id}`, status, error: null });
    const several: RequestListener = (request, answer) => {
      const id = request.url?.split("/").at(-1) ?? "";
      const begun = {
        operation: operation("op_a", "running"),
        sandbox: null,
        siblings: [{ operation: operation("op_b", "running"), sandbox: null }],
      };
      const ended = { ...operation(id, ends[id] === null ? "succeeded" : "failed"), error: ends[id] };
      answer.writeHead(request.method === "POST" ? 202 : 200);
      if (request.method === "POST") answer.end(JSON.stringify(begun));
      else answer.end(JSON.stringify(request.url?.startsWith("/v1/operations/") ? ended : { id, state: "running" }));
    };
    return against(several, async (other) => {
      expect(await other.create({ snapshot: "warm", count: 2 })).toMatchObject({
        operation: { id: "op_a", status: "failed" },
        sandbox: null,
        siblings: [{ operation: { status: "succeeded" }, sandbox: { state: "running" } }],
      });
    });
  });

  test("is not followed when the wait was given", () =>
    against(outlasting(null), async (other) => {
      expect(await other.create({ image: "big" }, { waitMs: 0 })).toMatchObject({ operation: { status: "running" } });
    }));
});
