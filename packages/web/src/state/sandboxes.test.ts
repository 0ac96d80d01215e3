import type { Sandbox } from "@torpor/contract";
import { expect, test } from "vitest";
import { findSandbox, newestFirst, sandboxes, withSandbox } from "./sandboxes.ts";

const record = (id: string, updatedAt: string, more: Partial<Sandbox> = {}) =>
  ({ id, updatedAt, name: id, createdAt: updatedAt, ...more }) as Sandbox;

test("an answer that a newer one has overtaken changes nothing", () => {
  const all = withSandbox(new Map(), record("a", "2026-01-02", { state: "paused" }));
  expect(withSandbox(all, record("a", "2026-01-01", { state: "running" }))).toBe(all);
  // A phase changes nothing but the operation, and not the time.
  expect(withSandbox(all, record("a", "2026-01-02", { state: "resuming" })).get("a")?.state).toBe("resuming");
});

test("sandboxes are found by id and by name, newest first", () => {
  sandboxes.value = new Map(
    [record("sb_1", "2026-01-01", { name: "old" }), record("sb_2", "2026-01-02", { name: "new" })].map((one) => [one.id, one]),
  );
  expect([findSandbox("sb_1")?.name, findSandbox("new")?.id, findSandbox("none")]).toEqual(["old", "sb_2", undefined]);
  expect(newestFirst.value.map(({ name }) => name)).toEqual(["new", "old"]);
});
