import { OperationAnswer, Sandbox } from "@torpor/contract";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

async function post(server: TestServer, url: string, payload: object = {}) {
  const answer = await server.app.inject({ method: "POST", url, payload });
  return { status: answer.statusCode, body: answer.json() };
}

test("a sandbox is created, paused, resumed, forked, stopped, started and removed", async () => {
  await using server = await startTestServer();
  const created = await post(server, "/v1/sandboxes", { image: "debian", name: "base" });
  expect(created.status).toBe(201);
  const { sandbox } = OperationAnswer.parse(created.body);
  expect(await post(server, "/v1/sandboxes/base/pause")).toMatchObject({
    status: 200,
    body: { operation: { result: { memory: true } }, sandbox: { state: "paused" } },
  });
  expect(await post(server, `/v1/sandboxes/${sandbox?.id}/resume`)).toMatchObject({
    status: 200,
    body: { operation: { result: { restored: "memory" } }, sandbox: { generation: 2 } },
  });
  const forked = await post(server, "/v1/sandboxes/base/fork", { count: 2, name: "try" });
  expect(forked).toMatchObject({
    status: 201,
    body: {
      operation: {
        result: {
          children: [
            { name: "try-1", error: null },
            { name: "try-2", error: null },
          ],
        },
      },
    },
  });
  expect(await post(server, "/v1/sandboxes/base/stop")).toMatchObject({ status: 200, body: { sandbox: { state: "stopped" } } });
  expect(await post(server, "/v1/sandboxes/base/start")).toMatchObject({ status: 200, body: { sandbox: { state: "running" } } });
  const removed = await server.app.inject({ method: "DELETE", url: "/v1/sandboxes/base?force=true" });
  expect(removed.json()).toMatchObject({ operation: { kind: "remove", status: "succeeded" }, sandbox: null });
  const list = await server.app.inject("/v1/sandboxes");
  expect(
    list
      .json()
      .sandboxes.map(({ name }: Sandbox) => name)
      .sort(),
  ).toEqual(["try-1", "try-2"]);
});

test("wait=0 answers 202 with the operation, which goes on and can be looked up", async () => {
  await using server = await startTestServer();
  const { engine } = server.ports;
  const boot = engine.boot.bind(engine);
  const gate = Promise.withResolvers<void>();
  // Its guest is greeted beside its start, so that is begun at once and ends late.
  engine.boot = (spec) => boot(spec).then(() => gate.promise);
  const { status, body } = await post(server, "/v1/sandboxes?wait=0", { image: "debian", name: "base" });
  expect(status).toBe(202);
  expect(body).toMatchObject({ operation: { kind: "create", status: "running" }, sandbox: { state: "creating" } });
  gate.resolve();
  await server.served.lifecycle.idle();
  const operation = await server.app.inject(`/v1/operations/${body.operation.id}`);
  expect(operation.json()).toMatchObject({ status: "succeeded" });
  const events = await server.app.inject("/v1/sandboxes/base/events?limit=1");
  expect(events.json().events).toHaveLength(1);
  const operations = await server.app.inject("/v1/sandboxes/base/operations");
  expect(operations.json().operations).toMatchObject([{ id: body.operation.id }]);
});

test("what is kept for the lifecycle alone is not shown", async () => {
  await using server = await startTestServer();
  const { body } = await post(server, "/v1/sandboxes", { image: "debian", name: "base" });
  expect(Object.keys(body.sandbox).sort()).toEqual(Object.keys(Sandbox.shape).sort());
});

test("an image's work is told line by line when asked for, else as one answer", async () => {
  await using server = await startTestServer();
  const lines = await server.app.inject({
    method: "POST",
    url: "/v1/images/pull",
    payload: { reference: "alpine" },
    headers: { accept: "application/x-ndjson" },
  });
  expect(lines.headers["content-type"]).toContain("application/x-ndjson");
  const last = JSON.parse(lines.body.trim().split("\n").at(-1) ?? "");
  expect(last).toMatchObject({ image: { references: ["alpine"] } });
  const failed = await server.app.inject({
    method: "POST",
    url: "/v1/images/pull",
    payload: { reference: "nope" },
    headers: { accept: "application/x-ndjson" },
  });
  expect(JSON.parse(failed.body)).toMatchObject({ error: { code: "image_not_found" } });
  expect(await post(server, "/v1/images/pull", { reference: "alpine" })).toMatchObject({ status: 200, body: { references: ["alpine"] } });
  expect(await post(server, "/v1/images/prune")).toMatchObject({ status: 200 });
});
