import { expect, test } from "vitest";
import type { Store } from "../ports/store.ts";
import type { UsageRecord } from "../ports/usage-store.ts";

/** The part of the store's contract that is about usage. */
export function usageConformance(storeOf: () => Store): void {
  const used = (sandboxId: string, runningSeconds: number): UsageRecord => ({
    sandboxId,
    name: "ü\u0000",
    team: "default",
    since: "2026-01-01T00:00:00.000Z",
    until: "2026-01-02T00:00:00.000Z",
    removedAt: null,
    runningSeconds,
    cpuSeconds: 0.1,
    memoryGibSeconds: 1e12,
    storedGibSeconds: 0,
    holding: { cpus: 0.5, memoryBytes: 2 ** 40 },
  });

  test("usage is replaced and forgotten, with or without its sandbox", async () => {
    const store = storeOf();
    await store.commit({ usage: [used("sb_b", 1), used("sb_a", 2)] });
    await store.commit({ usage: [used("sb_b", 3)] });
    expect(await store.listUsage()).toEqual([used("sb_a", 2), used("sb_b", 3)]);
    await store.commit({ usage: [used("sb_a", 4)], forgottenUsage: ["sb_b", "sb_nobody"] });
    expect(await store.listUsage()).toEqual([used("sb_a", 4)]);
  });
}
