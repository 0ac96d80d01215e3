import { expect, test } from "vitest";
import type { Store } from "../ports/store.ts";
import { sandboxRecord, wakeRecord, wakeupRecord } from "./records.ts";

/** The part of the store's contract that is about wakes. */
export function wakesConformance(storeOf: () => Store): void {
  const other = sandboxRecord({ id: "sb_b", name: "b", address: null });
  const setUp = async (): Promise<Store> => {
    const store = storeOf();
    await store.commit({ sandboxes: [sandboxRecord(), other] });
    return store;
  };

  test("wakes are given back as they were written, by id, by token and by sandbox, oldest first", async () => {
    const store = await setUp();
    const url = wakeRecord({ id: "wk_b", kind: "url", nextAt: null, tokenHash: "h", secret: "s", label: "ü\u0000" });
    await store.commit({ wakes: [wakeRecord(), url] });
    await store.commit({ wakes: [wakeRecord({ id: "wk_0", sandboxId: "sb_b" })] });
    expect(await store.findWake("wk_b")).toEqual({ ...url, version: 1 });
    expect(await store.findWakeByToken("h")).toEqual({ ...url, version: 1 });
    expect(await store.findWakeByToken("x")).toBeUndefined();
    expect((await store.listWakes()).map(({ id }) => id)).toEqual(["wk_a", "wk_b", "wk_0"]);
    expect((await store.listWakes("sb_b")).map(({ id }) => id)).toEqual(["wk_0"]);
    await store.commit({ endedWakes: [{ ...url, version: 1 }] });
    expect(await store.findWake("wk_b")).toBeUndefined();
  });

  test("a wake and its delivery are written together or not at all", async () => {
    const store = await setUp();
    await store.commit({ wakes: [wakeRecord()] });
    await store.commit({ wakes: [wakeRecord({ version: 1, nextAt: null })] });
    const stale = { wakes: [wakeRecord({ version: 1 })], wakeups: [wakeupRecord()] };
    await expect(store.commit(stale)).rejects.toMatchObject({ name: "StoreConflict", kind: "stale" });
    await expect(store.commit({ endedWakes: [wakeRecord({ version: 1 })] })).rejects.toMatchObject({ kind: "stale" });
    expect(await store.countWakeups()).toEqual(new Map());
    await store.commit({ endedWakes: [wakeRecord({ version: 2 })], wakeups: [wakeupRecord()] });
    expect(await store.countWakeups()).toEqual(new Map([["sb_a", 1]]));
  });

  test("wakeups come in the order of their commits, and no place is given twice", async () => {
    const store = await setUp();
    const call = { method: "POST", query: "a=b", headers: [["x-a", "1"]] as const, body: "AP8=" };
    await store.commit({ wakeups: [wakeupRecord({ id: "wd_z", call })] });
    await store.commit({ wakeups: [wakeupRecord({ id: "wd_a" }), wakeupRecord({ id: "wd_b", sandboxId: "sb_b" })] });
    const first = await store.nextWakeup("sb_a");
    expect(first).toEqual({ ...wakeupRecord({ id: "wd_z", call }), version: 1, seq: expect.any(Number) });
    await store.commit({ wakeups: [wakeupRecord({ id: "wd_z", version: 1, stage: "prepared", call })] });
    expect(await store.nextWakeup("sb_a")).toEqual({ ...first, version: 2, stage: "prepared" });
    await expect(store.commit({ wakeups: [wakeupRecord({ id: "wd_z", version: 1 })] })).rejects.toMatchObject({ kind: "stale" });
    await store.commit({ endedWakeups: [wakeupRecord({ id: "wd_z", version: 2 })] });
    await expect(store.commit({ endedWakeups: [wakeupRecord({ id: "wd_z", version: 2 })] })).rejects.toMatchObject({ kind: "stale" });
    const second = await store.nextWakeup("sb_a");
    expect(second?.id).toBe("wd_a");
    expect(second!.seq).toBeGreaterThan(first!.seq);
    await store.commit({ endedWakeups: [wakeupRecord({ id: "wd_a", version: 1 })] });
    expect(await store.nextWakeup("sb_a")).toBeUndefined();
    await store.commit({ wakeups: [wakeupRecord({ id: "wd_c" })] });
    expect((await store.nextWakeup("sb_a"))!.seq).toBeGreaterThan(second!.seq);
  });

  test("they go with their sandbox, and none comes after it", async () => {
    const store = await setUp();
    await store.commit({ wakes: [wakeRecord(), wakeRecord({ id: "wk_b", sandboxId: "sb_b" })] });
    await store.commit({ wakeups: [wakeupRecord(), wakeupRecord({ id: "wd_b", sandboxId: "sb_b" })] });
    await store.commit({ removed: [sandboxRecord({ version: 1 })] });
    expect((await store.listWakes()).map(({ id }) => id)).toEqual(["wk_b"]);
    expect(await store.countWakeups()).toEqual(new Map([["sb_b", 1]]));
    await expect(store.commit({ wakes: [wakeRecord({ id: "wk_c" })] })).rejects.toMatchObject({ kind: "stale" });
    await expect(store.commit({ wakeups: [wakeupRecord({ id: "wd_c" })] })).rejects.toMatchObject({ kind: "stale" });
  });
}
