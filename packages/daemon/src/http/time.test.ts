import { TorporError } from "@torpor/contract";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ unsupported: [] });
  await call("POST", "/v1/sandboxes", { image: "debian", name: "base", autoResume: true });
});
afterAll(async () => server[Symbol.asyncDispose]());

async function call(method: "POST" | "PATCH" | "GET", url: string, body?: object) {
  const answer = await server.app.inject({ method, url, ...(body === undefined ? {} : { body }) });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
}

const invalid = (message: RegExp) => ({
  status: 400,
  body: { error: { code: "invalid_request", message: expect.stringMatching(message) } },
});

test.each([
  [{ ttlMs: -1 }, /ttlMs: at least 1000/],
  [{ ttlMs: 0 }, /ttlMs: at least 1000/],
  [{ ttlMs: 1e15 }, /ttlMs: at most/],
  [{ ttlMs: 1500.5 }, /ttlMs: .*whole/],
  [{ ttlMs: "x" }, /ttlMs: .*number/],
  [{ idleMs: 999 }, /idleMs: at least 1000/],
  [{ hardTtlMs: 5000, ttlMs: 5001 }, /ttlMs \(5001\) is over hardTtlMs \(5000\)/],
  [{ onTimeout: "kill" }, /onTimeout/],
  [{ expiresAt: "2030-01-01T00:00:00.000Z" }, /expiresAt/],
])("%j is refused where a sandbox is made and where it is changed, with nothing changed (T09)", async (settings, message) => {
  const before = (await call("GET", "/v1/sandboxes/base")).body;
  expect(await call("PATCH", "/v1/sandboxes/base", settings)).toMatchObject(invalid(message));
  expect((await call("GET", "/v1/sandboxes/base")).body).toEqual(before);
  expect(await call("POST", "/v1/sandboxes", { image: "debian", name: "other", ...settings })).toMatchObject(invalid(message));
  expect((await call("GET", "/v1/sandboxes")).body.sandboxes).toHaveLength(1);
});

test("30 days are kept and not over at once; an empty change is none (T09)", async () => {
  const { body } = await call("PATCH", "/v1/sandboxes/base", { ttlMs: 2_592_000_000 });
  expect(Date.parse(body.expiresAt) - Date.now()).toBeGreaterThan(2_591_000_000);
  expect((await call("PATCH", "/v1/sandboxes/base", {})).body).toMatchObject({ ttlMs: 2_592_000_000, state: "running" });
  expect(await call("PATCH", "/v1/sandboxes/base", { ttlMs: null })).toMatchObject({ status: 200, body: { ttlMs: null, expiresAt: null } });
});

test("a call that can't wake its sandbox is answered 503, with the time after which to come again", async () => {
  let now = Math.ceil(performance.now());
  const clock = vi.spyOn(server.ports.clock, "monotonicMs").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  await call("POST", "/v1/sandboxes/base/pause");
  const engine = server.ports.engine as unknown as { failNext(call: string, error: Error): void };
  for (const _ of [1, 2]) engine.failNext("restore", new TorporError("engine_failed", "the engine broke"));
  const exec = () => call("POST", "/v1/sandboxes/base/exec", { argv: ["true"] });
  const failed = (retryAfterMs: number) => ({
    status: 503,
    headers: { "retry-after": "1" },
    body: { error: { code: "resume_failed", details: { cause: "engine_failed", retryAfterMs } } },
  });
  expect(await exec()).toMatchObject(failed(1000));
  expect(await exec()).toMatchObject(failed(1000));
  now += 400;
  expect(await exec()).toMatchObject(failed(600));
  now += 600;
  expect((await exec()).status).toBe(200);
});

test("what an engine can't do is refused where it is asked for", async () => {
  await using weak = await startTestServer({ unsupported: ["pause", "resume"] });
  const create = (settings: object) =>
    weak.app.inject({ method: "POST", url: "/v1/sandboxes", body: { image: "debian", name: "weak", ...settings } });
  expect((await create({ ttlMs: 1000 })).json().error.code).toBe("capability_unsupported");
  expect((await create({ autoResume: true })).json().error.code).toBe("capability_unsupported");
  expect((await create({ ttlMs: 1000, onTimeout: "stop" })).statusCode).toBe(201);
});
