import { once } from "node:events";
import { request } from "node:http";
import type { Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server[Symbol.asyncDispose]());

const scrape = async () => (await server.app.inject("/metrics")).body;

test("sandboxes, operations, requests and the pool are counted", async () => {
  const { lifecycle } = server.served;
  await lifecycle.create({ image: "debian", name: "base" });
  await lifecycle.pause("base");
  await lifecycle.create({ image: "debian", name: "secret-name" });
  await server.app.inject("/v1/sandboxes/secret-name");
  await server.app.inject("/v1/sandboxes/nobody");
  await server.app.inject("/nowhere/at/all");
  const answer = await server.app.inject("/metrics");
  expect(answer.headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
  for (const line of [
    'torpor_sandboxes{state="paused"} 1',
    'torpor_sandboxes{state="running"} 1',
    'torpor_sandboxes{state="failed"} 0',
    "torpor_sandboxes_held 0",
    'torpor_pool_bytes{kind="free"} 1',
    'torpor_operation_seconds_count{kind="create",outcome="succeeded"} 2',
    'torpor_operation_seconds_count{kind="pause",outcome="succeeded"} 1',
    'torpor_http_request_seconds_count{method="GET",route="/v1/sandboxes/:id",status="2xx"} 1',
    'torpor_http_request_seconds_count{method="GET",route="/v1/sandboxes/:id",status="4xx"} 1',
    'torpor_http_request_seconds_count{method="GET",route="unknown",status="4xx"} 1',
    "torpor_session_sockets 0",
  ])
    expect(answer.body.split("\n")).toContain(line);
  expect(answer.body).not.toMatch(/secret-name|nobody|nowhere/);
});

test("a client of a session is counted as long as it is there", async () => {
  await server.served.lifecycle.create({ image: "debian", name: "base" });
  const headers = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  const asked = request({ socketPath: server.socketPath, path: "/v1/sandboxes/base/exec", headers });
  const [, socket] = (await once(asked.end(), "upgrade")) as [unknown, Socket];
  expect(await scrape()).toContain("torpor_session_sockets 1\n");
  socket.destroy();
  await expect.poll(scrape).toContain("torpor_session_sockets 0\n");
});

test("a store that does not answer makes it unhealthy, and its figures are left out rather than wrong", async () => {
  expect((await server.app.inject("/healthz")).json()).toEqual({ status: "ok" });
  vi.spyOn(server.ports.store, "held").mockRejectedValue(new Error("away"));
  vi.spyOn(server.ports.store, "listSandboxes").mockRejectedValue(new Error("away"));
  expect((await server.app.inject("/healthz")).statusCode).toBe(500);
  const text = await scrape();
  expect(text).not.toMatch(/torpor_sandboxes\{/);
  expect(text).toContain('torpor_failed_measurements_total{figure="sandboxes"} 1');
});
