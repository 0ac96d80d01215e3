import { request } from "node:http";
import type { NodeStats } from "@torpor/contract";
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
  const seen: NodeStats[] = [];
  await new Promise<void>((resolve, reject) => {
    const asked = { socketPath: server.socketPath, path: "/v1/stats", headers: { accept: "text/event-stream" }, agent: false };
    request(asked, async (answer) => {
      expect(answer.headers["content-type"]).toBe("text/event-stream");
      for await (const chunk of answer) {
        seen.push(JSON.parse(String(chunk).slice("data: ".length)));
        if (seen.length === 2) break;
      }
      answer.once("close", resolve);
      answer.destroy();
    })
      .on("error", reject)
      .end();
  });
  expect(Date.parse(seen[1]?.at ?? "") - Date.parse(seen[0]?.at ?? "")).toBeGreaterThan(1500);
  await vi.waitFor(async () => expect(await connections()).toBe(0));
  const count = measured.mock.calls.length;
  vi.useFakeTimers();
  await vi.advanceTimersByTimeAsync(10_000);
  vi.useRealTimers();
  expect(measured).toHaveBeenCalledTimes(count);
});

const connections = () => new Promise<number>((resolve) => server.app.server.getConnections((_, count) => resolve(count)));
