import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { errorCatalogue } from "@torpor/contract";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

async function post(server: TestServer, url: string, payload: object, key: string) {
  const answer = await server.app.inject({ method: "POST", url, payload, headers: { "idempotency-key": key } });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
}

test("A01: the same key twice, and ten times at once: one sandbox, one operation, one answer", async () => {
  await using server = await startTestServer();
  const first = await post(server, "/v1/sandboxes", { image: "debian", labels: { a: "1", b: "2" } }, "k");
  expect(first.status).toBe(201);
  const again = await post(server, "/v1/sandboxes?wait=1000", { labels: { b: "2", a: "1" }, image: "debian" }, "k");
  expect(again).toMatchObject({ status: 201, body: first.body });
  const many = await Promise.all(Array.from({ length: 10 }, () => post(server, "/v1/sandboxes", { image: "debian" }, "ten")));
  expect(new Set(many.map(({ body }) => body.sandbox.id)).size).toBe(1);
  const other = await post(server, "/v1/sandboxes", { image: "debian", name: "other" }, "k");
  expect(other).toMatchObject({ status: errorCatalogue.idempotency_conflict.status, body: { error: { code: "idempotency_conflict" } } });
  expect((await server.app.inject("/v1/sandboxes")).json().sandboxes).toHaveLength(2);
});

test("A01: a failed call's retry has the same failure; a removal's retry its success", async () => {
  await using server = await startTestServer();
  const failed = await post(server, "/v1/sandboxes", { image: "nowhere" }, "k");
  expect(failed.status).toBe(404);
  expect((await post(server, "/v1/sandboxes", { image: "nowhere" }, "k")).body).toEqual(failed.body);
  await post(server, "/v1/sandboxes", { image: "debian", name: "base" }, "b");
  const remove = (force: boolean) =>
    server.app.inject({ method: "DELETE", url: `/v1/sandboxes/base?force=${force}`, headers: { "idempotency-key": "r" } });
  const removed = await remove(true);
  expect((await remove(true)).json()).toEqual(removed.json());
  expect((await remove(false)).json()).toMatchObject({ error: { code: "idempotency_conflict" } });
});

test("A01: a command with a key is run once, and its retry has the same output, also after a pause", async () => {
  await using server = await startTestServer();
  await post(server, "/v1/sandboxes", { image: "debian", name: "base" }, "c");
  const command = { argv: ["sh", "-c", "echo once >> log; cat log; exit 3"] };
  const first = await post(server, "/v1/sandboxes/base/exec", command, "k");
  expect(Buffer.from(first.body.stdout, "base64").toString()).toBe("once\n");
  expect(await post(server, "/v1/sandboxes/base/exec", command, "k")).toMatchObject({ status: 200, body: first.body });
  const many = await Promise.all(Array.from({ length: 5 }, () => post(server, "/v1/sandboxes/base/exec", command, "five")));
  for (const { body } of many) expect(body).toEqual(many[0]?.body);
  await post(server, "/v1/sandboxes/base/pause", {}, "p");
  await post(server, "/v1/sandboxes/base/resume", {}, "r");
  expect((await post(server, "/v1/sandboxes/base/exec", command, "k")).body).toEqual(first.body);
  const other = await post(server, "/v1/sandboxes/base/exec", { argv: ["true"] }, "k");
  expect(other).toMatchObject({ status: 409, body: { error: { code: "idempotency_conflict" } } });
  const otherwise = await post(server, "/v1/sandboxes/base/exec", { ...command, env: { A: "1" } }, "k");
  expect(otherwise).toMatchObject({ status: 409, body: { error: { code: "idempotency_conflict" } } });
  const started = await post(server, "/v1/sandboxes/base/sessions", { argv: ["sleep", "60"] }, "s");
  expect((await post(server, "/v1/sandboxes/base/sessions", { argv: ["sleep", "60"] }, "s")).body).toMatchObject({ pid: started.body.pid });
});

test("what is at work is told at once, with when to come again; and can be given up", async () => {
  await using server = await startTestServer();
  await post(server, "/v1/sandboxes", { image: "debian", name: "base" }, "c");
  const gate = gateOf(server, "capture");
  const pausing = await post(server, "/v1/sandboxes/base/pause?wait=0", {}, "p");
  expect(pausing).toMatchObject({ status: 202, body: { operation: { kind: "pause", status: "running" }, sandbox: { state: "pausing" } } });
  await gate.reached;
  const exec = await post(server, "/v1/sandboxes/base/exec", { argv: ["true"] }, "e");
  expect(exec).toMatchObject({ status: 409, body: { error: { code: "operation_active" } } });
  expect(exec.headers["retry-after"]).toBe("1");
  const path = `/v1/operations/${pausing.body.operation.id}/cancel`;
  const cancelling = await server.app.inject({ method: "POST", url: `${path}?wait=0` });
  expect(cancelling).toMatchObject({ statusCode: 202 });
  gate.open();
  await server.served.lifecycle.idle();
  expect((await server.app.inject(`/v1/operations/${pausing.body.operation.id}`)).json()).toMatchObject({
    status: "failed",
    cancelable: false,
    error: { code: "operation_cancelled" },
  });
  expect((await server.app.inject("/v1/sandboxes/base")).json()).toMatchObject({ state: "running" });
  expect((await server.app.inject({ method: "POST", url: path })).json()).toMatchObject({ error: { code: "operation_not_cancelable" } });
});

test("a client that leaves cancels nothing", async () => {
  await using server = await startTestServer();
  const gate = gateOf(server, "boot");
  const accepted = once(server.app.server, "connection") as Promise<[Socket]>;
  const call = connect(server.socketPath);
  const body = JSON.stringify({ image: "debian", name: "base" });
  const head = `POST /v1/sandboxes HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  call.write(`${head}\r\n\r\n${body}`);
  const [connection] = await accepted;
  await gate.reached;
  const left = once(connection, "close");
  call.destroy();
  await left;
  gate.open();
  await server.served.lifecycle.idle();
  expect((await server.app.inject("/v1/sandboxes/base")).json()).toMatchObject({ state: "running", operation: null });
});

function gateOf({ ports: { engine } }: TestServer, call: "boot" | "capture") {
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const real = engine[call].bind(engine) as (...given: unknown[]) => Promise<never>;
  Object.assign(engine, {
    [call]: async (...given: unknown[]) => {
      // A start is begun at once and ends late: its guest is greeted beside it.
      const begun = call === "boot" ? real(...given) : undefined;
      reached.resolve();
      await gate.promise;
      return begun ?? real(...given);
    },
  });
  return { reached: reached.promise, open: () => gate.resolve() };
}
