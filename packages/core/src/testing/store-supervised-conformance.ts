import { expect, test } from "vitest";
import type { Store } from "../ports/store.ts";
import { sandboxRecord, supervisedRecord } from "./records.ts";

/** The part of the store's contract that is about supervised sessions. */
export function supervisedConformance(storeOf: () => Store): void {
  const setUp = async (): Promise<Store> => {
    const store = storeOf();
    await store.commit({ sandboxes: [sandboxRecord(), sandboxRecord({ id: "sb_b", name: "b", address: null })] });
    return store;
  };

  test("supervised sessions are given back as they were written, by sandbox and id, oldest first", async () => {
    const store = await setUp();
    const second = supervisedRecord({ id: "se_0", journal: [[1, "stdout", "AP8="]], start: { argv: ["ü\u0000"] } });
    await store.commit({ supervised: [supervisedRecord()] });
    // The child of a fork has sessions of the same ids.
    await store.commit({ supervised: [second, supervisedRecord({ sandboxId: "sb_b" })] });
    expect(await store.findSupervised("sb_a", "se_0")).toEqual({ ...second, version: 1 });
    expect((await store.listSupervised("sb_a")).map(({ id }) => id)).toEqual(["se_a", "se_0"]);
    expect((await store.listSupervised()).length).toBe(3);
    await store.commit({ supervised: [{ ...second, version: 1, state: "ready" }] });
    expect((await store.findSupervised("sb_a", "se_0"))?.state).toBe("ready");
    await store.commit({ endedSupervised: [{ ...second, version: 2 }] });
    expect(await store.findSupervised("sb_a", "se_0")).toBeUndefined();
  });

  test("a change that is based on an older version, or on nothing, is refused, and they go with their sandbox", async () => {
    const store = await setUp();
    await store.commit({ supervised: [supervisedRecord(), supervisedRecord({ sandboxId: "sb_b" })] });
    await expect(store.commit({ supervised: [supervisedRecord()] })).rejects.toMatchObject({ kind: "stale" });
    await store.commit({ supervised: [supervisedRecord({ version: 1 })] });
    await expect(store.commit({ supervised: [supervisedRecord({ version: 1 })] })).rejects.toMatchObject({ kind: "stale" });
    await expect(store.commit({ endedSupervised: [supervisedRecord({ version: 1 })] })).rejects.toMatchObject({ kind: "stale" });
    await store.commit({ removed: [sandboxRecord({ version: 1 })] });
    expect((await store.listSupervised()).map(({ sandboxId }) => sandboxId)).toEqual(["sb_b"]);
    await expect(store.commit({ supervised: [supervisedRecord({ id: "se_c" })] })).rejects.toMatchObject({ kind: "stale" });
  });
}
