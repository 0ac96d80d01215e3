import type { ErrorBody } from "@torpor/contract";
import { isSigned, startTestServer, type TestServer, WebhookReceiver } from "@torpor/daemon/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventStream } from "../../packages/daemon/src/http/event-stream.ts";
import { blocksFor } from "./blocks.ts";
import { likeness } from "./shown.ts";

/** What goes over the line looks as the documents have it. By the first word of each block. */
const real: Readonly<Record<string, () => Promise<string>>> = { retry: stream, "webhook-id": message, "{ ": error };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

test.each(blocksFor(import.meta.url))("$document:$line, $language: is what goes over the line", async ({ text }) => {
  const [word = ""] = /^(\w+(-\w+)?|\{ )/.exec(text) ?? [];
  const documented = text.trim().replace(/<base64 of HMAC-SHA256\(secret, "id\.timestamp\.body"\)>/, "…");
  expect(await real[word]?.()).toMatch(likeness(documented));
});

async function stream(): Promise<string> {
  const event = { seq: 4712, sandboxId: "sb_abc", operationId: "op_abc", type: "sandbox.paused", data: { memory: true } };
  async function* batches() {
    yield { events: [], cursor: 4711 };
    yield { events: [{ ...event, at: "2026-01-01T00:00:00.000Z" }], cursor: 4712 };
    yield { events: [], cursor: 4718 };
  }
  const sent: Uint8Array[] = [];
  for await (const bytes of eventStream(batches())) sent.push(bytes);
  return Buffer.concat(sent).toString().trim();
}

/** With the signature that the document's formula gives. */
async function message(): Promise<string> {
  await using receiver = await WebhookReceiver.open();
  const { secret } = (await call("POST", "/v1/webhooks", { url: receiver.url, types: ["sandbox.paused"] })).json<{ secret: string }>();
  await call("POST", "/v1/sandboxes", { image: "debian", name: "base" });
  await call("POST", "/v1/sandboxes/base/pause", {});
  const [received] = await receiver.came(1);
  expect(received && isSigned(received, secret)).toBe(true);
  const names = Object.keys(received?.headers ?? {}).filter((name) => name.startsWith("webhook-"));
  const head = names.sort((a, b) => order.indexOf(a) - order.indexOf(b)).map((name) => `${name}: ${received?.headers[name]}`);
  // In which order a JSON object has its fields says nothing.
  const { data, ...about } = JSON.parse(received?.body ?? "") as { data: { seq: number; sandboxId: string } };
  const { seq, sandboxId, ...more } = data;
  return `${head.join("\n")}\n\n${JSON.stringify({ ...about, data: { seq, sandboxId, ...more } })}`;
}
const order = ["webhook-id", "webhook-timestamp", "webhook-signature"];

/** Its message and hint in short: they are of the moment. */
async function error(): Promise<string> {
  await call("POST", "/v1/sandboxes", { image: "debian", name: "stopped" });
  await call("POST", "/v1/sandboxes/stopped/stop", {});
  const { error } = (await call("POST", "/v1/sandboxes/stopped/pause", {})).json<ErrorBody>();
  return JSON.stringify({ error }, null, 1).replaceAll(/\n */g, " ").replace("{ }", "{}");
}

function call(method: "POST", url: string, payload: object) {
  return server.app.inject({ method, url, payload });
}
