import { setTimeout as sleep } from "node:timers/promises";
import { MemoryWorld, operationRecord, sandboxRecord, webhookRecord } from "@torpor/core/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CuttingProxy } from "../testing/cutting-proxy.ts";
import { PostgresServer } from "../testing/postgres-server.ts";
import { openPostgresStore } from "./postgres-store.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

describe("a line that is cut at a commit", () => {
  test.each([
    ["before the server sees it", ["before"]],
    ["when it is done and only the answer is lost", ["after"]],
    ["again and again", ["after", "before", "after", "before", "before", "after"]],
  ] as const)("%s: each change is there once", async (_title, cuts) => {
    await using proxy = await CuttingProxy.start(server.socketPath);
    const store = await openPostgresStore(proxy.url(await server.database()), { instance: "cut" });
    try {
      await store.commit({ sandboxes: [sandboxRecord()] });
      proxy.cuts = cuts.slice(0, 1);
      await store.commit({ webhooks: [webhookRecord()] });
      for (const [index, cut] of cuts.entries()) {
        const id = `op_${index}`;
        proxy.cuts = [cut];
        await store.commit({ operations: [operationRecord({ id })], events: [anEvent(`${id} began`)], keys: [aKey(id)] });
        proxy.cuts = [cut];
        await store.commit({ operations: [operationRecord({ id, version: 1, status: "succeeded" })], events: [anEvent(`${id} ended`)] });
        expect(proxy.cuts).toEqual([]);
        expect(await store.findOperation(id)).toMatchObject({ version: 2, status: "succeeded" });
        expect(await store.findKey("pause base", id, at)).toMatchObject({ operationId: id });
      }
      const expected = cuts.flatMap((_, index) => [`op_${index} began`, `op_${index} ended`]);
      expect((await store.listEvents({})).map(({ type }) => type)).toEqual(expected);
      const deliveries = await store.listDeliveries({ webhookId: "wh_a", limit: 100 });
      expect(deliveries.map(({ type }) => type).reverse()).toEqual(expected);
      proxy.cuts = ["after"];
      await store.commit({ deliveries: [{ ...deliveries[0]!, status: "delivered", attempts: 1, endedAt: at }] });
      expect(await store.listDeliveries({ webhookId: "wh_a", status: "delivered", limit: 9 })).toMatchObject([{ attempts: 1 }]);
      proxy.cuts = ["after"];
      await store.commit({ removed: [sandboxRecord({ version: 1 })] });
      expect(await store.listSandboxes()).toEqual([]);
      proxy.cuts = ["after"];
      await store.commit({ removedWebhooks: [webhookRecord({ version: 1 })] });
      expect(await store.listWebhooks()).toEqual([]);
    } finally {
      await store.close();
    }
  });

  test("a server that then stays away leaves it open, and says so", async () => {
    await using proxy = await CuttingProxy.start(server.socketPath);
    const store = await openPostgresStore(proxy.url(await server.database()), { instance: "cut", commitLimitMs: 200 });
    proxy.refusing = true;
    proxy.cuts = ["after"];
    const told = { code: "storage_failed", details: { outcome: "unknown" }, message: expect.stringContaining("written is not known") };
    await expect(store.commit({ operations: [operationRecord()] })).rejects.toMatchObject(told);
    await expect(store.commit({ operations: [operationRecord({ id: "op_b" })] })).rejects.toMatchObject({
      code: "storage_failed",
      details: {},
    });
    proxy.refusing = false;
    expect(await store.findOperation("op_a")).toMatchObject({ version: 1 });
    await store.close();
  });

  test("what somebody else changed meanwhile is a conflict, not taken for one's own", async () => {
    await using proxy = await CuttingProxy.start(server.socketPath);
    const url = await server.database();
    const [store, other] = await Promise.all([proxy.url(url), url].map((each) => openPostgresStore(each, { instance: "cut" })));
    await store!.commit({ operations: [operationRecord()] });
    await other!.commit({ operations: [operationRecord({ version: 1, phase: "seal" })] });
    proxy.cuts = ["before"];
    await expect(store!.commit({ operations: [operationRecord({ version: 1, phase: "thaw" })] })).rejects.toMatchObject({ kind: "stale" });
    expect(await other!.findOperation("op_a")).toMatchObject({ version: 2, phase: "seal" });
    await Promise.all([store!.close(), other!.close()]);
  });
});

/** The real thing is 15 s; what matters is that every call of every operation meets it. */
const awayMs = Number(process.env.TORPOR_STORE_AWAY_MS ?? 1500);

test("losing PostgreSQL delays operations and breaks none", { timeout: 120_000 }, async () => {
  const store = await openPostgresStore(await server.database(), { instance: "lost" });
  const world = new MemoryWorld({ store });
  const lifecycle = world.lifecycle();
  const names = ["one", "two", "three"];
  for (const name of names) await lifecycle.create({ image: "debian", name });
  let over = false;
  const rounds = names.map(async (name) => {
    let count = 0;
    // On a busy host the first may last until the server is back.
    for (; !over || count < 2; count++) {
      expect((await lifecycle.pause(name)).operation.status).toBe("succeeded");
      expect((await lifecycle.resume(name, { memory: "require" })).operation.status).toBe("succeeded");
    }
  });
  await sleep(200);
  await server.lose();
  const reading = lifecycle.list();
  await sleep(awayMs);
  await server.begin();
  await sleep(500);
  over = true;
  await Promise.all(rounds);
  expect(await reading).toHaveLength(3);
  await lifecycle.idle();
  for (const sandbox of await lifecycle.list()) {
    expect(sandbox).toMatchObject({ state: "running", operation: null });
    const operations = await lifecycle.operations(sandbox.name);
    expect(operations.every(({ status }) => status === "succeeded")).toBe(true);
    expect(sandbox.generation).toBe(operations.filter(({ kind }) => kind === "resume").length + 1);
  }
  expect(world.errors).toEqual([]);
  await store.close();
});

const at = "2026-01-01T00:00:00.000Z";

function anEvent(type: string) {
  return { sandboxId: "sb_a", operationId: null, type, data: {}, at };
}

function aKey(id: string) {
  return {
    key: id,
    scope: "pause base",
    fingerprint: "f",
    operationId: id,
    answer: null,
    createdAt: at,
    expiresAt: "2026-01-02T00:00:00.000Z",
  };
}
