import { TorporError } from "@torpor/contract";
import { describe, expect, test } from "vitest";
import type { Change } from "../ports/store.ts";
import { MemoryStore, MemoryWorld } from "../testing/index.ts";

/** A store whose disk is full for some commits, and whose answer may be lost although the commit took place. */
class FailingStore extends MemoryStore {
  failures = 0;
  lostAnswers = 0;
  skip = 0;

  override async commit(change: Change): Promise<void> {
    if (this.skip-- > 0) return super.commit(change);
    const full = new TorporError("storage_failed", "the store failed: database or disk is full (SQLITE_FULL)");
    if (this.failures-- > 0) throw full;
    await super.commit(change);
    const lost = { details: { outcome: "unknown" } };
    if (this.lostAnswers-- > 0) throw new TorporError("storage_failed", "the store can't be reached: the answer was lost", lost);
  }
}

const cases = (["create", "pause", "resume", "fork", "stop", "start", "remove"] as const).flatMap((kind) =>
  [1, 2, 3].flatMap((skip) => [1, 2, 7].map((failures) => [kind, skip, failures] as const)),
);
const before = { create: [], pause: [], resume: ["pause"], fork: [], stop: [], start: ["stop"], remove: [] } as const;

describe("an operation outlives a store that fails for a while", () => {
  test.each(cases)("%s, after %i commits, for %i", async (kind, skip, failures) => {
    const store = new FailingStore();
    const world = new MemoryWorld({ store });
    const lifecycle = world.lifecycle();
    if (kind !== "create") await lifecycle.create({ image: "debian", name: "base" });
    for (const command of before[kind]) await lifecycle[command]("base");
    Object.assign(store, { skip, failures });
    const begun =
      kind === "create" ? lifecycle.create({ image: "debian", name: "base" }) : lifecycle[kind]("base", { force: true } as object);
    const { operation } = await begun;
    await lifecycle.idle();
    expect(operation.status).not.toBe("running");
    expect(await world.store.runningOperations()).toEqual([]);
    const sandboxes = await lifecycle.list();
    for (const { state, operation: active } of sandboxes) {
      expect(active).toBeNull();
      expect(["running", "paused", "stopped"]).toContain(state);
    }
    const { swept } = await world.lifecycle().recover();
    expect(swept).toBe(0);
    store.failures = 0;
    if (sandboxes.length > 0) await lifecycle.remove("base", { force: true });
  });

  test.each([1, 2, 3, 4])("a pause whose commit %i took place although nobody knew keeps its memory", async (skip) => {
    const store = new FailingStore();
    const world = new MemoryWorld({ store });
    const lifecycle = world.lifecycle();
    await lifecycle.create({ image: "debian", name: "base" });
    const { sessions } = await lifecycle.guest("base");
    await sessions.start({ sessionId: "se_a", argv: ["counter"], hold: false });
    Object.assign(store, { skip, lostAnswers: 1 });
    expect(await lifecycle.pause("base")).toMatchObject({ operation: { status: "succeeded" }, sandbox: { state: "paused" } });
    store.lostAnswers = 0;
    expect((await lifecycle.resume("base", { memory: "require" })).operation.result).toMatchObject({ restored: "memory" });
    expect(await (await lifecycle.guest("base")).sessions.get("se_a")).toMatchObject({ end: null });
    await lifecycle.idle();
    expect((await world.lifecycle().recover()).swept).toBe(0);
  });

  test("whose last commit took place although it was told to have failed: the operation has ended, once", async () => {
    const store = new FailingStore();
    const lifecycle = new MemoryWorld({ store }).lifecycle();
    await lifecycle.create({ image: "debian", name: "base" });
    Object.assign(store, { skip: 2, lostAnswers: 1 });
    const { operation } = await lifecycle.stop("base");
    expect(operation).toMatchObject({ status: "succeeded" });
    expect((await lifecycle.events("base")).filter(({ type }) => type === "sandbox.stopped")).toHaveLength(1);
  });
});
