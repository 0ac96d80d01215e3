import type { CreatedWebhook } from "@torpor/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isSigned, startTestServer, type TestServer, WebhookReceiver } from "../testing/index.ts";

let server: TestServer;
let receiver: WebhookReceiver;
beforeEach(async () => {
  server = await startTestServer();
  receiver = await WebhookReceiver.open();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

async function call(method: "GET" | "POST" | "DELETE", url: string, payload?: object, headers: Record<string, string> = {}) {
  const answer = await server.app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
  return { status: answer.statusCode, body: answer.body === "" ? undefined : answer.json(), text: answer.body };
}

const create = async (request: object = {}) =>
  (await call("POST", "/v1/webhooks", { url: receiver.url, ...request })).body as CreatedWebhook;

test("what happens to a sandbox comes to the receiver, signed and in order", async () => {
  const { webhook, secret } = await create({ types: ["sandbox.*"] });
  await call("POST", "/v1/sandboxes", { image: "debian", name: "base" });
  for (const step of ["pause", "resume", "stop"]) await call("POST", `/v1/sandboxes/base/${step}`, {});
  const received = await receiver.came(4);
  expect(received.map(({ body }) => JSON.parse(body).type)).toEqual([
    "sandbox.created",
    "sandbox.paused",
    "sandbox.resumed",
    "sandbox.stopped",
  ]);
  for (const one of received) expect(isSigned(one, secret)).toBe(true);
  const events = (await call("GET", "/v1/events?type=sandbox.*")).body.events;
  expect(received.map(({ body }) => JSON.parse(body).data)).toEqual(events);
  const at = `/v1/webhooks/${webhook.id}`;
  // Their answers are on their way back.
  while ((await call("GET", at)).body.pending > 0) await new Promise((resolve) => setImmediate(resolve));
  const listed = await call("GET", `${at}/deliveries`);
  expect(listed.body.deliveries.map(({ id }: { id: string }) => id).reverse()).toEqual(
    received.map(({ headers }) => headers["webhook-id"]),
  );
  expect(listed.body.deliveries[0]).toMatchObject({ status: "delivered", attempts: 1, lastStatus: 204, nextAt: null });
  expect((await call("GET", `${at}/deliveries?status=dead`)).body.deliveries).toEqual([]);
});

test("a webhook is made, shown without its secret, paused, enabled, tested and removed", async () => {
  const made = await create({ description: "pager" });
  expect(made.secret).toMatch(/^whsec_/);
  const at = `/v1/webhooks/${made.webhook.id}`;
  const answers = [
    await call("GET", at),
    await call("GET", "/v1/webhooks"),
    await call("POST", `${at}/pause`),
    await call("POST", `${at}/enable`),
    await call("POST", `${at}/test`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(answers[2]?.body).toMatchObject({ state: "paused" });
  expect(answers[4]?.body).toMatchObject({ delivered: true, status: 204, error: null });
  expect(isSigned(receiver.received[0]!, made.secret)).toBe(true);
  for (const { text } of answers) expect(text).not.toMatch(/secret|whsec_/);
  expect(await call("DELETE", at)).toMatchObject({ status: 204 });
  expect(await call("DELETE", at)).toMatchObject({ status: 404, body: { error: { code: "webhook_not_found" } } });
});

test("A01: a create that is repeated with its key makes one", async () => {
  const again = () => call("POST", "/v1/webhooks", { url: receiver.url }, { "idempotency-key": "once" });
  const [first, second] = [await again(), await again()];
  expect(first).toMatchObject({ status: 201 });
  expect(second).toEqual(first);
  expect((await call("GET", "/v1/webhooks")).body.webhooks).toHaveLength(1);
});

describe("A10: a webhook that is wrong is refused, and none is made", () => {
  const fine = "https://receiver.example/";
  test.each([
    ["no address", {}, "invalid_request", /url: an address looks like/],
    ["no URL", { url: "receiver.example" }, "invalid_request", /url: an address looks like/],
    ["another protocol", { url: "ftp://receiver.example/" }, "invalid_request", /url/],
    ["credentials", { url: "https://user:hunter2@receiver.example/" }, "invalid_request", /url: .*no user and password/],
    ["a fragment", { url: `${fine}#x` }, "invalid_request", /url/],
    ["one that is too long", { url: fine + "x".repeat(3000) }, "invalid_request", /url/],
    ["a private address", { url: "http://10.0.0.1/" }, "target_refused", /10\.0\.0\.1/],
    ["metadata", { url: "http://169.254.169.254/latest" }, "target_refused", /169\.254/],
    ["a short secret", { url: fine, secret: "whsec_c2hvcnQ=" }, "invalid_request", /secret: a secret has 24 to 64 bytes/],
    ["a secret of another form", { url: fine, secret: "hunter2hunter2hunter2hunter2" }, "invalid_request", /secret: a secret is whsec_/],
    ["no types", { url: fine, types: [] }, "invalid_request", /types/],
    ["a type that is none", { url: fine, types: ["Sandbox Paused"] }, "invalid_request", /types/],
    ["an unknown sandbox", { url: fine, sandbox: "nobody" }, "sandbox_not_found", /nobody/],
    ["an unknown field", { url: fine, event: "x" }, "invalid_request", /event/],
  ])("%s", async (_title, request, code, message) => {
    const { body, text } = await call("POST", "/v1/webhooks", request);
    expect(body.error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(text).not.toContain("hunter2");
    expect((await call("GET", "/v1/webhooks")).body.webhooks).toEqual([]);
  });

  test.each([
    ["GET", "/v1/webhooks/wh_1", "invalid_request"],
    ["GET", "/v1/webhooks/wh_aaaaaaaaaaaaaaaa", "webhook_not_found"],
    ["POST", "/v1/webhooks/wh_aaaaaaaaaaaaaaaa/test", "webhook_not_found"],
    ["GET", "/v1/webhooks/wh_aaaaaaaaaaaaaaaa/deliveries?status=lost", "invalid_request"],
    ["GET", "/v1/webhooks/wh_aaaaaaaaaaaaaaaa/deliveries?limit=1001", "invalid_request"],
  ] as const)("%s %s", async (method, url, code) => {
    expect((await call(method, url)).body.error.code).toBe(code);
  });
});
