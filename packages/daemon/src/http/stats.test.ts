import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
  await server.served.lifecycle.create({ image: "debian", name: "base" });
});
afterEach(() => server[Symbol.asyncDispose]());

test("figures of one sandbox, of all, and none of one that there is not", async () => {
  expect((await server.app.inject("/v1/sandboxes/base/stats")).json()).toMatchObject({ name: "base", state: "running", processes: 1 });
  expect((await server.app.inject("/v1/stats")).json()).toMatchObject({
    sandboxes: [{ name: "base" }],
    pool: { sizeBytes: 1, freeBytes: 1 },
  });
  expect((await server.app.inject("/v1/sandboxes/nope/stats")).json()).toMatchObject({ error: { code: "sandbox_not_found" } });
});

test("as a stream they come again and again while somebody reads, and nothing is measured afterwards", async () => {
  const measured = vi.spyOn(server.served.lifecycle, "allStats");
  const asked = { socketPath: server.socketPath, path: "/v1/stats", headers: { accept: "text/event-stream" }, agent: false };
  const [answer] = (await once(request(asked).end(), "response")) as [IncomingMessage];
  expect(answer.headers["content-type"]).toBe("text/event-stream");
  const lines = createInterface({ input: answer })[Symbol.asyncIterator]();
  for (let seen = 1; seen <= 2; seen++) {
    const { value: line = "" } = await lines.next();
    expect(JSON.parse(line.slice("data: ".length))).toMatchObject({ sandboxes: [{ name: "base" }] });
    await lines.next();
    await expect.poll(() => pauses).toHaveLength(seen);
    expect(measured).toHaveBeenCalledTimes(seen);
    if (seen === 1) pauses[0]?.over();
  }
  answer.destroy();
  await expect.poll(() => pauses[1]?.signal.aborted).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(pauses).toHaveLength(2);
  expect(measured).toHaveBeenCalledTimes(2);
});

/** Between two measurements; the test says when one is over. */
const pauses = vi.hoisted((): { readonly over: () => void; readonly signal: AbortSignal }[] => []);
vi.mock("node:timers/promises", async (original) => {
  const real = await original<typeof import("node:timers/promises")>();
  const setTimeout: typeof real.setTimeout = (ms, value, options) => {
    const signal = options?.signal;
    if (ms !== 2000 || signal === undefined) return real.setTimeout(ms, value, options);
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      pauses.push({ over: () => resolve(value as never), signal });
    });
  };
  return { ...real, setTimeout };
});
