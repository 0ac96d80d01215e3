import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ unsupported: [] });
  await server.served.lifecycle.recover();
  await json("POST", "/v1/sandboxes", { image: "debian", name: "base" });
});
afterAll(async () => server[Symbol.asyncDispose]());

type Method = "GET" | "POST" | "PUT" | "DELETE";
async function json(method: Method, url: string, body?: object) {
  const answer = await server.app.inject({ method, url, ...(body === undefined ? {} : { body }) });
  return { status: answer.statusCode, body: answer.body === "" ? undefined : answer.json() };
}

async function read(path: string): Promise<Buffer> {
  return (await server.app.inject({ url: `/v1/sandboxes/base/files?path=${encodeURIComponent(path)}` })).rawPayload;
}

async function queued(): Promise<string[]> {
  const { status, body } = await json("GET", "/v1/sandboxes/base/files/list?path=/var/lib/torpor/wakes");
  const entries = status === 200 ? (body.entries as { path: string; name: string }[]) : [];
  return entries.filter(({ name }) => !name.startsWith(".")).map(({ path }) => path);
}

test("a call of any type and method is stored, delivered as it came, and acknowledged by its removal", async () => {
  await json("POST", "/v1/sandboxes/base/pause");
  const { status, body: wake } = await json("POST", "/v1/sandboxes/base/wakes", { url: true, label: "deploy" });
  expect(status).toBe(201);
  expect(wake.path).toMatch(/^\/v1\/wake\/[a-z2-7]{32}$/);
  const payload = Buffer.from([0, 255, 10, 13, 128]);
  const put = await server.app.inject({
    method: "PUT",
    url: wake.path,
    payload,
    headers: { "content-type": "image/png", "x-a": "ü", authorization: "Bearer x" },
  });
  expect(put.statusCode).toBe(202);
  expect((await json("GET", `${wake.path}?a=b`)).status).toBe(202);
  await expect.poll(queued).toHaveLength(2);
  const [first = "", second = ""] = await queued();
  expect(await read(`${first}/body`)).toEqual(payload);
  expect((await read(`${first}/method`)).toString()).toBe("PUT\n");
  const headers = (await read(`${first}/headers`)).toString();
  expect(headers.toLowerCase()).toContain("content-type: image/png\n");
  expect(headers.toLowerCase()).not.toContain("authorization");
  expect(JSON.parse((await read(`${first}/wake.json`)).toString())).toMatchObject({ label: "deploy", kind: "url", late: false });
  expect((await read(`${second}/method`)).toString()).toBe("GET\n");
  expect(JSON.parse((await read(`${second}/wake.json`)).toString())).toMatchObject({ query: "a=b" });
  await expect.poll(async () => (await json("GET", "/v1/sandboxes/base/wakes")).body.pending).toBe(0);
  for (const place of [first, second]) {
    const removed = await json("DELETE", `/v1/sandboxes/base/files?path=${encodeURIComponent(place)}&recursive=true`);
    expect(removed.status).toBe(204);
  }
  await json("POST", "/v1/sandboxes/base/pause");
  await json("POST", "/v1/sandboxes/base/resume");
  expect(await queued()).toEqual([]);
  expect((await json("DELETE", `/v1/sandboxes/base/wakes/${wake.id}`)).status).toBe(204);
  expect(await json("POST", wake.path)).toMatchObject({ status: 404, body: { error: { code: "wake_not_found" } } });
});

test("a body of 1 MiB is taken, one byte more is not; nor is a call without its signature", async () => {
  const { body: wake } = await json("POST", "/v1/sandboxes/base/wakes", { url: true, signed: true });
  const call = (payload: Buffer, headers: Record<string, string>) =>
    server.app.inject({ method: "POST", url: wake.path, payload, headers: { "content-type": "text/plain", ...headers } });
  const sign = (payload: Buffer) => ({ "x-torpor-signature": `sha256=${createHmac("sha256", wake.secret).update(payload).digest("hex")}` });
  const most = Buffer.alloc(1024 * 1024, 7);
  const more = Buffer.alloc(1024 * 1024 + 1, 7);
  const tooLarge = await call(more, sign(more));
  expect([tooLarge.statusCode, tooLarge.json().error.code]).toEqual([413, "body_too_large"]);
  const unsigned = await call(most, {});
  expect([unsigned.statusCode, unsigned.json().error.code]).toEqual([401, "unauthorized"]);
  const before = await queued();
  expect((await call(most, sign(most))).statusCode).toBe(202);
  await expect.poll(queued).toHaveLength(before.length + 1);
  expect(await read(`${(await queued()).at(-1)}/body`)).toEqual(most);
});

test.each([
  [{}, /one of at/],
  [{ at: "2020-01-01T00:00:00Z" }, /in the past/],
  [{ at: "tomorrow" }, /at:/],
  [{ afterMs: 1000, url: true }, /one of at/],
  [{ afterMs: 0 }, /afterMs:/],
  [{ cron: "0 9 * * *", at: "2030-01-01T00:00:00Z" }, /one of at/],
  [{ afterMs: 5, timezone: "UTC" }, /timezone goes with cron/],
  [{ afterMs: 5, signed: true }, /signed goes with url/],
])("%j is refused", async (request, message) => {
  const answer = await json("POST", "/v1/sandboxes/base/wakes", request);
  expect(answer).toMatchObject({ status: 400, body: { error: { code: "invalid_request", message: expect.stringMatching(message) } } });
});

test("an address that is none is refused like one that was revoked", async () => {
  expect(await json("POST", `/v1/wake/${"a".repeat(32)}`)).toMatchObject({ status: 404, body: { error: { code: "wake_not_found" } } });
  expect(await json("POST", "/v1/wake/x")).toMatchObject({ status: 400 });
});
