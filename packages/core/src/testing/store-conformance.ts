import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KeyRecord, SandboxRecord, Store } from "../ports/store.ts";
import { operationRecord, sandboxRecord } from "./records.ts";
import { credentialsConformance } from "./store-credentials-conformance.ts";
import { snapshotConformance } from "./store-snapshots-conformance.ts";
import { supervisedConformance } from "./store-supervised-conformance.ts";
import { teamsConformance } from "./store-teams-conformance.ts";
import { usageConformance } from "./store-usage-conformance.ts";
import { wakesConformance } from "./store-wakes-conformance.ts";

/** `reopen`: the same store after a restart of the daemon. */
export interface StoreHarness {
  readonly store: Store;
  readonly reopen: () => Promise<Store>;
}

export function storeConformance(name: string, make: () => Promise<StoreHarness>): void {
  describe(`${name} keeps the contract of a store`, () => {
    let harness: StoreHarness;
    let store: Store;
    beforeEach(async () => {
      harness = await make();
      store = harness.store;
    });
    afterEach(() => store.close());

    test("gives back what was committed, with the next version, by id and by name", async () => {
      const sandbox = sandboxRecord({ env: { A: "ü\u0000\n" }, labels: { a: "b" } });
      const operation = operationRecord({ notes: { deep: { list: [1, "two"] } } });
      await store.commit({ sandboxes: [sandbox], operations: [operation] });
      expect(await store.findSandbox(sandbox.id)).toEqual({ ...sandbox, version: 1 });
      expect(await store.findSandbox(sandbox.name)).toEqual({ ...sandbox, version: 1 });
      expect(await store.findOperation(operation.id)).toEqual({ ...operation, version: 1 });
      expect(await store.findSandbox("nobody")).toBeUndefined();
      expect(await store.findOperation("op_none")).toBeUndefined();
    });

    snapshotConformance(() => store);

    test("an id wins over a name", async () => {
      await store.commit({
        sandboxes: [sandboxRecord({ id: "sb_a", name: "a", address: null }), sandboxRecord({ id: "b", name: "c", address: null })],
      });
      await store.commit({ sandboxes: [sandboxRecord({ id: "sb_d", name: "b", address: null })] });
      expect((await store.findSandbox("b"))?.id).toBe("b");
    });

    test("writes only over the version it was told, and otherwise nothing of the change", async () => {
      await store.commit({ sandboxes: [sandboxRecord()] });
      await store.commit({ sandboxes: [sandboxRecord({ version: 1, state: "pausing" })] });
      const event = { sandboxId: "sb_a", operationId: null, type: "never", data: {}, at };
      const stale = { sandboxes: [sandboxRecord({ version: 1, state: "stopped" })], operations: [operationRecord()], events: [event] };
      await expect(store.commit(stale)).rejects.toMatchObject({ name: "StoreConflict", kind: "stale" });
      expect(await store.findSandbox("sb_a")).toMatchObject({ version: 2, state: "pausing" });
      expect(await store.findOperation("op_a")).toBeUndefined();
      expect(await store.listEvents({})).toEqual([]);
    });

    test.each([
      ["a sandbox that exists", { sandboxes: [sandboxRecord({ name: "other", address: null })] }],
      ["an operation that exists", { operations: [operationRecord({ status: "succeeded" })] }],
      ["a sandbox that is gone", { sandboxes: [sandboxRecord({ id: "sb_gone", name: "gone", address: null, version: 3 })] }],
      ["a removal of another version", { removed: [sandboxRecord({ version: 7 })] }],
    ])("is stale: %s", async (_, change) => {
      await store.commit({ sandboxes: [sandboxRecord()], operations: [operationRecord()] });
      await expect(store.commit(change)).rejects.toMatchObject({ kind: "stale" });
    });

    test("a name, an address and the one running operation are kept apart", async () => {
      await store.commit({ sandboxes: [sandboxRecord()], operations: [operationRecord()] });
      const sameName = sandboxRecord({ id: "sb_b", address: "10.0.0.3" });
      const sameAddress = sandboxRecord({ id: "sb_b", name: "b" });
      await expect(store.commit({ sandboxes: [sameName] })).rejects.toMatchObject({ kind: "name" });
      await expect(store.commit({ sandboxes: [sameAddress] })).rejects.toMatchObject({ kind: "address" });
      await expect(store.commit({ operations: [operationRecord({ id: "op_b" })] })).rejects.toMatchObject({ kind: "operation" });
      await store.commit({ operations: [operationRecord({ version: 1, status: "succeeded" })] });
      await store.commit({ operations: [operationRecord({ id: "op_b" })] });
      await store.commit({
        sandboxes: [sandboxRecord({ id: "sb_c", name: "c", address: null }), sandboxRecord({ id: "sb_d", name: "d", address: null })],
      });
    });

    test("a removed sandbox frees its name and address; operations and events stay", async () => {
      await store.commit({
        sandboxes: [sandboxRecord()],
        operations: [operationRecord({ status: "succeeded" })],
        events: [anEvent("sandbox.created")],
      });
      await store.commit({ removed: [sandboxRecord({ version: 1 })], events: [anEvent("sandbox.removed")] });
      expect(await store.listSandboxes()).toEqual([]);
      expect((await store.listOperations("sb_a")).map(({ id }) => id)).toEqual(["op_a"]);
      expect((await store.listEvents({ sandboxId: "sb_a" })).map(({ type }) => type)).toEqual(["sandbox.created", "sandbox.removed"]);
      await store.commit({ sandboxes: [sandboxRecord({ id: "sb_b" })] });
    });

    test("a removed parent stays as an ancestor until nothing comes from it any more", async () => {
      const fork = { at, index: 1, count: 1 };
      const child = sandboxRecord({ id: "sb_b", name: "b", address: null, parentId: "sb_a", fork });
      const grandchild = sandboxRecord({ id: "sb_c", name: "c", address: null, parentId: "sb_b", fork });
      await store.commit({ sandboxes: [sandboxRecord(), child, grandchild] });
      const removedAt = "2026-02-01T00:00:00.000Z";
      await store.commit({ removed: [sandboxRecord({ version: 1, updatedAt: removedAt })] });
      const first = { id: "sb_a", name: "base", parentId: null, fork: null, createdAt: at, removedAt };
      expect(await store.listAncestors()).toEqual([first]);
      await store.commit({ removed: [{ ...child, version: 1 }] });
      expect(await store.listAncestors()).toEqual([
        first,
        { id: "sb_b", name: "b", parentId: "sb_a", fork, createdAt: at, removedAt: child.updatedAt },
      ]);
      // Its name is free all the same.
      await store.commit({ sandboxes: [sandboxRecord({ id: "sb_d", address: null })] });
      await store.commit({ removed: [{ ...grandchild, version: 1 }] });
      expect(await store.listAncestors()).toEqual([]);
    });

    test("lists sandboxes oldest first, operations newest first, running ones oldest first", async () => {
      const later = sandboxRecord({ id: "sb_0", name: "later", address: null, createdAt: "2026-01-02T00:00:00.000Z" });
      await store.commit({ sandboxes: [later, sandboxRecord()] });
      expect((await store.listSandboxes()).map(({ id }) => id)).toEqual(["sb_a", "sb_0"]);
      await store.commit({ operations: [operationRecord({ id: "op_z", status: "failed" })] });
      await store.commit({ operations: [operationRecord({ id: "op_y" })] });
      await store.commit({ operations: [operationRecord({ id: "op_x", sandboxId: "sb_0" })] });
      expect((await store.listOperations("sb_a")).map(({ id }) => id)).toEqual(["op_y", "op_z"]);
      expect((await store.runningOperations()).map(({ id }) => id)).toEqual(["op_y", "op_x"]);
    });

    test("events have a seq that grows by one, and can be had from any on", async () => {
      await store.commit({ events: [anEvent("one"), anEvent("two")] });
      await store.commit({ events: [{ ...anEvent("three"), sandboxId: "sb_b", data: { x: [1] } }] });
      const all = await store.listEvents({});
      expect(all.map(({ type }) => type)).toEqual(["one", "two", "three"]);
      expect(all[2]).toEqual({ ...anEvent("three"), sandboxId: "sb_b", data: { x: [1] }, seq: (all[0]?.seq ?? 0) + 2 });
      expect((await store.listEvents({ after: all[0]!.seq, limit: 1 })).map(({ type }) => type)).toEqual(["two"]);
      expect((await store.listEvents({ sandboxId: "sb_b" })).map(({ type }) => type)).toEqual(["three"]);
    });

    test("all together hold no more than they may, from before a runtime is there until it is gone", async () => {
      const within = { memoryBytes: 1024 * 2 ** 20, cpus: 3, diskBytes: 40 * 2 ** 30 };
      const make = (id: string, fields: Partial<SandboxRecord> = {}) =>
        sandboxRecord({ id, name: id, address: null, state: "creating", runtimeId: null, resources, ...fields });
      const resources = { memoryBytes: 512 * 2 ** 20, cpus: 0.5, diskBytes: 10 * 2 ** 30, pids: 100 };
      await store.commit({ sandboxes: [make("sb_a"), make("sb_b")], within });
      expect(await store.held()).toEqual({ memoryBytes: 1024 * 2 ** 20, cpus: 1, diskBytes: 20 * 2 ** 30 });
      const third = { sandboxes: [make("sb_c")], operations: [operationRecord()], within };
      const held = { memoryBytes: 1536 * 2 ** 20, cpus: 1.5, diskBytes: 30 * 2 ** 30 };
      await expect(store.commit(third)).rejects.toMatchObject({ name: "StoreConflict", kind: "capacity", held });
      expect(await store.findOperation("op_a")).toBeUndefined();
      expect(await store.findSandbox("sb_c")).toBeUndefined();
      // Failed, and its runtime is not proved gone.
      await store.commit({ sandboxes: [make("sb_a", { version: 1, state: "failed", runtimeId: "rt_a" })] });
      await expect(store.commit(third)).rejects.toMatchObject({ kind: "capacity" });
      await store.commit({ sandboxes: [make("sb_a", { version: 2, state: "paused" })] });
      await store.commit(third);
      await expect(
        store.commit({ sandboxes: [make("sb_d", { resources: { ...resources, memoryBytes: 1, cpus: 2.5 } })], within }),
      ).rejects.toMatchObject({
        kind: "capacity",
      });
      await expect(
        store.commit({ sandboxes: [make("sb_d", { state: "stopped", resources: { ...resources, diskBytes: 11 * 2 ** 30 } })], within }),
      ).rejects.toMatchObject({
        kind: "capacity",
      });
      // What asks for nothing new is never refused.
      await store.commit({ sandboxes: [make("sb_d", { state: "stopped", resources: { ...resources, diskBytes: 11 * 2 ** 30 } })] });
      await store.commit({ removed: [make("sb_b", { version: 1 }), make("sb_c", { version: 1 })] });
      expect(await store.held()).toEqual({ memoryBytes: 0, cpus: 0, diskBytes: 21 * 2 ** 30 });
    });

    test("a key is kept with the change that it came with, and counts once in its scope until it expires", async () => {
      await store.commit({ operations: [operationRecord({ status: "succeeded" })], keys: [aKey()] });
      expect(await store.findKey("pause base", "k", at)).toEqual(aKey());
      expect(await store.findKey("pause other", "k", at)).toBeUndefined();
      expect(await store.findKey("pause base", "k", aKey().expiresAt)).toBeUndefined();
      const again = { operations: [operationRecord({ id: "op_b" })], keys: [aKey({ operationId: "op_b" })] };
      await expect(store.commit(again)).rejects.toMatchObject({ name: "StoreConflict", kind: "key" });
      expect(await store.findOperation("op_b")).toBeUndefined();
      const next = aKey({ operationId: "op_b", createdAt: aKey().expiresAt, expiresAt: "2026-01-03T00:00:00.000Z" });
      await store.commit({ keys: [aKey({ scope: "pause other" }), next] });
      expect(await store.findKey("pause base", "k", next.createdAt)).toEqual(next);
      const answered = aKey({ scope: "move base", operationId: "", answer: '{"body":"ü\\u0000"}' });
      await store.commit({ keys: [answered] });
      expect(await store.findKey("move base", "k", at)).toEqual(answered);
    });

    test("of the same key many times at once, one is taken", async () => {
      const commits = Array.from({ length: 10 }, (_, index) => store.commit({ keys: [aKey({ operationId: `op_${index}` })] }));
      const outcomes = await Promise.allSettled(commits);
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ kind: "key" });
    });

    test("history goes by age and by number, in batches; what runs and what a key answers with stays", async () => {
      const ended = (id: string, day: string) => operationRecord({ id, status: "failed", endedAt: `2026-01-${day}T00:00:00.000Z` });
      await store.commit({
        operations: [ended("op_1", "01"), ended("op_2", "01"), ended("op_3", "05"), ended("op_4", "06"), ended("op_5", "07")],
      });
      await store.commit({ operations: [operationRecord({ id: "op_6", startedAt: "2026-01-01T00:00:00.000Z" })] });
      await store.commit({
        operations: [{ ...ended("op_7", "01"), sandboxId: "sb_b" }],
        keys: [aKey({ operationId: "op_1", expiresAt: "2026-01-09T00:00:00.000Z" })],
      });
      await store.commit({
        keys: [aKey({ key: "old" })],
        events: [anEvent("old"), anEvent("older")].map((event) => ({ ...event, at: "2026-01-02T00:00:00.000Z" })),
      });
      await store.commit({ events: ["a", "b", "c", "d"].map((type) => ({ ...anEvent(type), at: "2026-01-07T00:00:00.000Z" })) });
      const retention = {
        now: "2026-01-08T00:00:00.000Z",
        before: "2026-01-04T00:00:00.000Z",
        undeliveredBefore: "",
        perSandbox: 3,
        batch: 2,
      };
      const deleted: number[] = [];
      for (let count = -1; count !== 0; deleted.push(count)) count = await store.prune(retention);
      expect(deleted.reduce((sum, count) => sum + count, 0)).toBe(1 + 2 + 1 + 2 + 1);
      expect((await store.listOperations("sb_a")).map(({ id }) => id)).toEqual(["op_6", "op_5", "op_4", "op_1"]);
      expect(await store.listOperations("sb_b")).toEqual([]);
      expect((await store.listEvents({})).map(({ type }) => type)).toEqual(["b", "c", "d"]);
      expect(await store.findKey("pause base", "old", at)).toBeUndefined();
      await store.commit({ events: [anEvent("next")] });
      expect((await store.listEvents({ limit: 10 })).at(-1)).toMatchObject({ type: "next", seq: 7 });
    });

    test("of many at once that want the same, one gets it", async () => {
      const commits = Array.from({ length: 20 }, (_, index) =>
        store.commit({ sandboxes: [sandboxRecord({ id: `sb_${index}`, address: null })] }),
      );
      const outcomes = await Promise.allSettled(commits);
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });

    test("what was committed is there after a restart", async () => {
      await store.commit({ sandboxes: [sandboxRecord()], operations: [operationRecord()], events: [anEvent("one")] });
      await store.close();
      store = await harness.reopen();
      expect(await store.findSandbox("base")).toEqual({ ...sandboxRecord(), version: 1 });
      expect(await store.runningOperations()).toEqual([{ ...operationRecord(), version: 1 }]);
      expect(await store.listEvents({})).toHaveLength(1);
    });

    wakesConformance(() => store);
    supervisedConformance(() => store);
    usageConformance(() => store);
    teamsConformance(
      () => store,
      () => harness.reopen(),
    );

    credentialsConformance(() => store);

    test("what it gives out is a copy", async () => {
      await store.commit({ sandboxes: [sandboxRecord()] });
      const taken = (await store.findSandbox("base")) as { -readonly [K in keyof SandboxRecord]: SandboxRecord[K] };
      taken.name = "changed";
      expect((await store.findSandbox("base"))?.name).toBe("base");
    });
  });
}

const at = "2026-01-01T00:00:00.000Z";

function aKey(changed: Partial<KeyRecord> = {}): KeyRecord {
  return {
    key: "k",
    scope: "pause base",
    fingerprint: "f",
    operationId: "op_a",
    answer: null,
    createdAt: at,
    expiresAt: "2026-01-02T00:00:00.000Z",
    ...changed,
  };
}

function anEvent(type: string) {
  return { sandboxId: "sb_a", operationId: null, type, data: {}, at };
}
