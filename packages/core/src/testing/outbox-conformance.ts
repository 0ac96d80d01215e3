import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { DeliveryRecord, WebhookRecord } from "../ports/outbox.ts";
import type { NewEvent, Store } from "../ports/store.ts";
import { sandboxRecord, webhookRecord } from "./records.ts";
import type { StoreHarness } from "./store-conformance.ts";

const at = "2026-01-01T00:00:00.000Z";

/** Webhooks and their deliveries, in the store that has the events. */
export function outboxConformance(name: string, make: () => Promise<StoreHarness>): void {
  describe(`${name} keeps the contract of an outbox`, () => {
    let harness: StoreHarness;
    let store: Store;
    beforeEach(async () => {
      harness = await make();
      store = harness.store;
    });
    afterEach(() => store.close());

    const all = (webhookId: string) => store.listDeliveries({ webhookId, limit: 100 });
    const first = (webhookId: string, sandboxId?: string) =>
      store.firstDeliveries({ webhookId, limit: 100, ...(sandboxId === undefined ? {} : { sandboxId }) });
    const add = (webhook: Partial<WebhookRecord> = {}) => store.commit({ webhooks: [webhookRecord(webhook)] });

    test("gives webhooks back as they were committed, oldest first, also after a restart", async () => {
      await add({ labels: { a: "ü" }, types: ["sandbox.*"], description: "d" });
      await add({ id: "wh_0", sandboxId: "sb_a" });
      await store.close();
      store = await harness.reopen();
      expect(await store.listWebhooks()).toEqual([
        webhookRecord({ labels: { a: "ü" }, types: ["sandbox.*"], description: "d", version: 1 }),
        webhookRecord({ id: "wh_0", sandboxId: "sb_a", version: 1 }),
      ]);
      expect(await store.findWebhook("wh_0")).toMatchObject({ id: "wh_0", secret: webhookRecord().secret });
      expect(await store.findWebhook("wh_none")).toBeUndefined();
    });

    test.each([
      ["one that exists", { webhooks: [webhookRecord()] }],
      ["a version that is not the stored one", { webhooks: [webhookRecord({ version: 2, state: "paused" })] }],
      ["one that is gone", { webhooks: [webhookRecord({ id: "wh_gone", version: 1 })] }],
      ["a removal of another version", { removedWebhooks: [webhookRecord({ version: 7 })] }],
    ])("is stale, and nothing of the change is written: %s", async (_, change) => {
      await add();
      await expect(store.commit({ ...change, events: [anEvent()] })).rejects.toMatchObject({ name: "StoreConflict", kind: "stale" });
      expect(await store.listEvents({})).toEqual([]);
      expect(await store.listWebhooks()).toEqual([webhookRecord({ version: 1 })]);
    });

    test("an event and its deliveries are written together or not at all", async () => {
      await add();
      await add({ id: "wh_b", types: ["sandbox.stopped"] });
      await store.commit({ sandboxes: [sandboxRecord()], events: [anEvent()] });
      const [event] = await store.listEvents({});
      const [delivery] = await all("wh_a");
      expect(delivery).toEqual({
        id: `wh_a_${event!.seq}`,
        webhookId: "wh_a",
        sandboxId: "sb_a",
        seq: event!.seq,
        type: "sandbox.paused",
        status: "pending",
        attempts: 0,
        lastStatus: null,
        lastError: null,
        createdAt: at,
        lastAttemptAt: null,
        nextAt: at,
        endedAt: null,
        body: JSON.stringify({ type: "sandbox.paused", timestamp: at, data: { ...anEvent(), seq: event!.seq } }),
      } satisfies DeliveryRecord);
      expect(await all("wh_b")).toEqual([]);
      await expect(store.commit({ sandboxes: [sandboxRecord({ version: 5 })], events: [anEvent()] })).rejects.toThrow();
      expect(await all("wh_a")).toHaveLength(1);
    });

    test("labels count as they are in the change, else as they are stored; those of a sandbox that goes too", async () => {
      await add({ labels: { team: "a" } });
      const sandbox = sandboxRecord({ labels: { team: "a", other: "x" } });
      await store.commit({ sandboxes: [sandbox], events: [anEvent({ type: "one" })] });
      await store.commit({ events: [anEvent({ type: "two" })] });
      await store.commit({ sandboxes: [{ ...sandbox, version: 1, labels: { team: "b" } }], events: [anEvent({ type: "not" })] });
      await store.commit({ sandboxes: [{ ...sandbox, version: 2 }] });
      await store.commit({ removed: [{ ...sandbox, version: 3 }], events: [anEvent({ type: "three" })] });
      await store.commit({ events: [anEvent({ type: "not" })] });
      expect((await all("wh_a")).map(({ type }) => type)).toEqual(["three", "two", "one"]);
    });

    test("a team's webhook gets what happens to the team's sandboxes, to the last of it; one from before teams is the default team's", async () => {
      await add({ team: "red" });
      await add({ id: "wh_d", team: "default" });
      const sandbox = sandboxRecord({ team: "red" });
      await store.commit({ sandboxes: [sandbox], events: [anEvent({ type: "one" })] });
      await store.commit({ events: [anEvent({ type: "two" })] });
      const old = sandboxRecord({ id: "sb_b", name: "b", address: null });
      await store.commit({ sandboxes: [old], events: [anEvent({ type: "old", sandboxId: "sb_b" })] });
      await store.commit({ removed: [{ ...sandbox, version: 1 }], events: [anEvent({ type: "three" })] });
      await store.commit({ events: [anEvent({ type: "nobody's" })] });
      expect((await all("wh_a")).map(({ type }) => type)).toEqual(["three", "two", "one"]);
      expect((await all("wh_d")).map(({ type }) => type)).toEqual(["old"]);
    });

    test("the first of each sandbox is to be sent, the next when it has ended", async () => {
      await add();
      await store.commit({ events: [anEvent({ type: "a1" }), anEvent({ type: "a2" }), anEvent({ type: "b1", sandboxId: "sb_b" })] });
      expect((await first("wh_a")).map(({ type }) => type)).toEqual(["a1", "b1"]);
      expect((await first("wh_a", "sb_b")).map(({ type }) => type)).toEqual(["b1"]);
      expect(await store.firstDeliveries({ webhookId: "wh_a", limit: 1 })).toHaveLength(1);
      const [a1, b1] = await first("wh_a");
      // Put off: later than the other's.
      const tried = { ...a1!, attempts: 1, lastStatus: 500, lastError: "HTTP status 500", lastAttemptAt: at };
      await store.commit({ deliveries: [{ ...tried, nextAt: "2026-01-01T00:00:01.000Z" }] });
      expect((await first("wh_a")).map(({ type }) => type)).toEqual(["b1", "a1"]);
      expect((await first("wh_a"))[1]).toEqual({ ...tried, nextAt: "2026-01-01T00:00:01.000Z" });
      await store.commit({
        deliveries: [
          { ...tried, status: "dead", endedAt: at },
          { ...b1!, status: "delivered", endedAt: at },
        ],
      });
      expect((await first("wh_a")).map(({ type }) => type)).toEqual(["a2"]);
      expect((await store.listDeliveries({ webhookId: "wh_a", status: "dead", limit: 9 })).map(({ type }) => type)).toEqual(["a1"]);
      expect(new Map((await store.countDeliveries()).map(({ webhookId, status, count }) => [`${webhookId} ${status}`, count]))).toEqual(
        new Map([
          ["wh_a pending", 1],
          ["wh_a delivered", 1],
          ["wh_a dead", 1],
        ]),
      );
    });

    test("a webhook goes with its deliveries, and what comes of one then is passed over", async () => {
      await add();
      await add({ id: "wh_b" });
      await store.commit({ events: [anEvent()] });
      const [delivery] = await first("wh_a");
      await store.commit({ removedWebhooks: [webhookRecord({ version: 1 })] });
      await store.commit({ deliveries: [{ ...delivery!, status: "delivered", endedAt: at }] });
      await store.commit({ events: [anEvent()] });
      expect(await all("wh_a")).toEqual([]);
      expect(await all("wh_b")).toHaveLength(2);
    });

    test("deliveries go by age and by number once they ended; what waited too long is given up first", async () => {
      await add();
      const days = ["01", "05", "05", "05", "06"].map((day) => anEvent({ type: "x", at: `2026-01-${day}T00:00:00.000Z` }));
      await store.commit({ events: [...days, anEvent({ type: "waits", at: "2026-01-01T00:00:00.000Z" })] });
      for (const delivery of (await all("wh_a")).filter(({ type }) => type === "x"))
        await store.commit({ deliveries: [{ ...delivery, status: "delivered", endedAt: delivery.createdAt }] });
      const retention = { now: "2026-01-08T00:00:00.000Z", before: "2026-01-04T00:00:00.000Z", perSandbox: 3, batch: 10 };
      await store.prune({ ...retention, undeliveredBefore: "2026-01-01T00:00:00.000Z" });
      expect((await all("wh_a")).map(({ seq }) => seq)).toEqual([6, 5, 4, 3]);
      await store.prune({ ...retention, undeliveredBefore: "2026-01-02T00:00:00.000Z" });
      const [waited, ...others] = await all("wh_a");
      expect(waited).toMatchObject({
        type: "waits",
        status: "dead",
        endedAt: retention.now,
        lastError: expect.stringContaining("too long"),
      });
      expect(others.map(({ seq }) => seq)).toEqual([5, 4]);
    });
  });
}

function anEvent(changed: Partial<NewEvent> = {}): NewEvent {
  return { sandboxId: "sb_a", operationId: null, type: "sandbox.paused", data: {}, at, ...changed };
}
