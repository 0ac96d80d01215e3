import { expect, test } from "vitest";
import type { Store } from "../ports/store.ts";
import { operationRecord, snapshotRecord } from "./records.ts";

/** The part of a store's suite that is about snapshots. */
export function snapshotConformance(current: () => Store): void {
  test("gives back snapshots as they were committed, by id and by name, oldest first", async () => {
    const store = current();
    const later = snapshotRecord({ id: "sn_0", name: "later", createdAt: "2026-01-02T00:00:00.000Z", labels: { a: "ü" } });
    await store.commit({ snapshots: [later, snapshotRecord()] });
    expect(await store.findSnapshot("sn_0")).toEqual({ ...later, version: 1 });
    expect(await store.findSnapshot("kept")).toEqual({ ...snapshotRecord(), version: 1 });
    expect(await store.findSnapshot("nobody")).toBeUndefined();
    expect((await store.listSnapshots()).map(({ id }) => id)).toEqual(["sn_a", "sn_0"]);
  });

  test.each([
    ["a snapshot that exists", { snapshots: [snapshotRecord({ name: "other" })] }],
    ["a snapshot of another version", { snapshots: [snapshotRecord({ version: 7 })] }],
    ["a removal of another version", { removedSnapshots: [snapshotRecord({ version: 7 })] }],
  ])("is stale: %s", async (_, change) => {
    const store = current();
    await store.commit({ snapshots: [snapshotRecord()] });
    const whole = { ...change, operations: [operationRecord()] };
    await expect(store.commit(whole)).rejects.toMatchObject({ name: "StoreConflict", kind: "stale" });
    expect(await store.findOperation("op_a")).toBeUndefined();
    expect(await store.findSnapshot("sn_a")).toEqual({ ...snapshotRecord(), version: 1 });
  });

  test("a snapshot's name is taken once, and free again with its removal", async () => {
    const store = current();
    await store.commit({ snapshots: [snapshotRecord()] });
    const same = snapshotRecord({ id: "sn_b" });
    await expect(store.commit({ snapshots: [same] })).rejects.toMatchObject({ name: "StoreConflict", kind: "snapshot" });
    await store.commit({ removedSnapshots: [snapshotRecord({ version: 1 })] });
    expect(await store.listSnapshots()).toEqual([]);
    await store.commit({ snapshots: [same] });
    expect((await store.findSnapshot("kept"))?.id).toBe("sn_b");
  });

  test("finds those that have expired, but for pinned ones", async () => {
    const store = current();
    const expiresAt = "2026-01-02T00:00:00.000Z";
    await store.commit({
      snapshots: [
        snapshotRecord(),
        snapshotRecord({ id: "sn_b", name: "b", expiresAt }),
        snapshotRecord({ id: "sn_c", name: "c", expiresAt, pinned: true }),
        snapshotRecord({ id: "sn_d", name: "d", expiresAt: "2026-01-03T00:00:00.000Z" }),
      ],
    });
    const due = async (expiredAt: string) => (await store.listSnapshots({ expiredAt })).map(({ id }) => id);
    expect(await due("2026-01-01T23:59:59.999Z")).toEqual([]);
    expect(await due(expiresAt)).toEqual(["sn_b"]);
    await store.commit({ snapshots: [snapshotRecord({ id: "sn_b", name: "b", expiresAt: null, version: 1 })] });
    expect(await due("2027-01-01T00:00:00.000Z")).toEqual(["sn_d"]);
  });
}
