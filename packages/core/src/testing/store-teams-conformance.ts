import { expect, test } from "vitest";
import type { Store } from "../ports/store.ts";
import type { TeamRecord } from "../ports/team-store.ts";
import { operationRecord, sandboxRecord } from "./records.ts";

const none = { memoryBytes: null, cpus: null, diskBytes: null, sandboxes: null };
const team = (name: string, given: Partial<TeamRecord> = {}): TeamRecord => ({ name, version: 0, limits: none, budget: null, ...given });
const plenty = { memoryBytes: 2 ** 50, cpus: 1000, diskBytes: 2 ** 50 };

/** The part of the store's contract that is about teams. */
export function teamsConformance(storeOf: () => Store, reopen: () => Promise<Store>): void {
  test("teams are written by version, with the meters that they pay for, and outlive the daemon", async () => {
    const store = storeOf();
    const budget = { credit: 1e12, used: 0.1 + 0.2, lastTopUp: { amount: 1e-9, at: "2026-01-01T00:00:00.000Z" } };
    await store.commit({ teams: [team("b"), team("a", { budget })] });
    await expect(store.commit({ teams: [team("a")] })).rejects.toMatchObject({ name: "StoreConflict", kind: "stale" });
    await store.commit({ teams: [team("b", { version: 1, limits: { ...none, cpus: 0.5 } })] });
    await expect(store.commit({ teams: [team("b", { version: 1 })] })).rejects.toMatchObject({ kind: "stale" });
    const again = await reopen();
    expect(await again.listTeams()).toEqual([team("a", { version: 1, budget }), team("b", { version: 2, limits: { ...none, cpus: 0.5 } })]);
    if (again !== store) await again.close();
  });

  test("prices are none until they are set, and are replaced", async () => {
    const store = storeOf();
    expect(await store.prices()).toBeUndefined();
    const prices = { cpuSecond: 1e-12, memoryGibSecond: 0, storedGibMonth: 3, debtShare: 0.1 };
    await store.commit({ prices: { ...prices, debtShare: 1 } });
    await store.commit({ prices });
    expect(await store.prices()).toEqual(prices);
  });

  test("what a team would hold beyond its limits is refused whole; what others hold is not its", async () => {
    const store = storeOf();
    const make = (id: string, given = {}) =>
      sandboxRecord({ id, name: id, address: null, state: "creating", runtimeId: null, team: "blue", ...given });
    const { memoryBytes, cpus, diskBytes } = make("sb_x").resources;
    await store.commit({ teams: [team("blue", { limits: { ...none, memoryBytes: memoryBytes * 1.5 } }), team("red")] });
    await store.commit({ sandboxes: [make("sb_a"), make("sb_r", { team: "red" })], within: plenty });
    const second = { sandboxes: [make("sb_b")], operations: [operationRecord()], within: plenty };
    await expect(store.commit(second)).rejects.toMatchObject({
      name: "StoreConflict",
      kind: "capacity",
      team: { team: { name: "blue" }, resource: "memoryBytes", held: { memoryBytes: memoryBytes * 2, sandboxes: 2 } },
    });
    expect(await store.findSandbox("sb_b")).toBeUndefined();
    expect(await store.findOperation("op_a")).toBeUndefined();
    await store.commit({ sandboxes: [make("sb_s", { team: "red" })], within: plenty });
    await store.commit({ sandboxes: [make("sb_a", { version: 1, state: "paused" })] });
    await store.commit(second);
    expect(await store.heldByTeam("blue")).toEqual({ memoryBytes, cpus, diskBytes: 2 * diskBytes, sandboxes: 2 });
    expect(await store.heldByTeam("nobody")).toEqual({ memoryBytes: 0, cpus: 0, diskBytes: 0, sandboxes: 0 });
    await store.commit({ removed: [make("sb_b", { version: 1 })] });
    expect(await store.heldByTeam("blue")).toMatchObject({ memoryBytes: 0, sandboxes: 1 });
  });
}
