import type { NodeStats, SandboxStats } from "@torpor/contract";
import { expect, test } from "vitest";
import { type History, keptLooks, withLook } from "./stats.ts";

const look = (...ids: string[]): NodeStats => ({
  at: "2026-01-01T00:00:00.000Z",
  pool: { sizeBytes: 1, freeBytes: 1 },
  sandboxes: ids.map(
    (id, i) => ({ id, memory: { usedBytes: i + 1, limitBytes: 9 }, cpu: { percent: 50, usedMs: 0, limit: 1 } }) as SandboxStats,
  ),
});

test("looks are kept in order, a bounded number of them, and none of a sandbox that is gone", () => {
  let histories: ReadonlyMap<string, History> = new Map();
  for (let i = 0; i < keptLooks + 5; i++) histories = withLook(histories, look("a", "b"));
  expect(histories.get("b")?.memory).toEqual(Array(keptLooks).fill(2));
  histories = withLook(histories, look("a"));
  expect([...histories.keys()]).toEqual(["a"]);
});
