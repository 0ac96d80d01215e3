import { describe, expect, test } from "vitest";
import { FakeClock, MemoryWorld } from "./testing/index.ts";
import { gateAt, withPaused, withSandbox } from "./testing/scenes.ts";

describe("what crosses", () => {
  test("P19: twenty resumes make one runtime and all succeed", async () => {
    const { world, lifecycle } = await withPaused();
    const answers = await Promise.all(Array.from({ length: 20 }, () => lifecycle.resume("base")));
    expect(answers.every(({ operation, sandbox }) => operation.status === "succeeded" && sandbox?.state === "running")).toBe(true);
    expect(await world.engine.list()).toHaveLength(1);
    expect((await lifecycle.get("base")).generation).toBe(2);
  });

  test("P30: a resume of a running one changes nothing and succeeds", async () => {
    const { lifecycle } = await withSandbox();
    const { operation, sandbox } = await lifecycle.resume("base");
    expect(operation).toMatchObject({ kind: "resume", status: "succeeded", result: { unchanged: true } });
    expect(sandbox).toMatchObject({ state: "running", generation: 1 });
    expect(await lifecycle.operation(operation.id)).toEqual(operation);
  });

  test("a removal wins over a pause at work", async () => {
    const world = new MemoryWorld();
    const gate = gateAt("pause.capture");
    const lifecycle = world.lifecycle(gate.failpoint);
    await lifecycle.create({ image: "debian", name: "base" });
    const pausing = lifecycle.pause("base");
    await gate.reached;
    expect(await lifecycle.get("base")).toMatchObject({ state: "pausing", operation: { kind: "pause", phase: "capture" } });
    await expect(lifecycle.guest("base")).rejects.toMatchObject({
      code: "operation_active",
      message: expect.stringContaining("phase capture"),
    });
    const removing = lifecycle.remove("base", { force: true });
    gate.open();
    expect((await removing).operation).toMatchObject({ kind: "remove", status: "succeeded" });
    expect((await pausing).operation).toMatchObject({ status: "failed", error: { message: expect.stringContaining("is being removed") } });
    expect([await world.engine.list(), await world.disks.list(), await world.checkpoints.list()]).toEqual([[], [], []]);
  });

  test("I13: a removal wins over a create at work", async () => {
    const world = new MemoryWorld();
    const gate = gateAt("create.boot");
    const lifecycle = world.lifecycle(gate.failpoint);
    const creating = lifecycle.create({ image: "debian", name: "base" });
    await gate.reached;
    const removing = lifecycle.remove("base", { force: true });
    gate.open();
    expect((await removing).operation.status).toBe("succeeded");
    expect((await creating).operation).toMatchObject({ status: "failed", error: { message: expect.stringContaining("is being removed") } });
    expect([await lifecycle.list(), await world.engine.list(), await world.disks.list()]).toEqual([[], [], []]);
  });

  test("an answer comes after the wait, with the operation at work", async () => {
    const clock = new FakeClock({ auto: false });
    const world = new MemoryWorld({ clock });
    const gate = gateAt("create.boot");
    const lifecycle = world.lifecycle(gate.failpoint);
    const creating = lifecycle.create({ image: "debian", name: "base" }, { waitMs: 100 });
    await gate.reached;
    clock.advance(100);
    const { operation, sandbox } = await creating;
    expect(operation.status).toBe("running");
    expect(sandbox).toMatchObject({ state: "creating", operation: { id: operation.id } });
    gate.open();
    await lifecycle.idle();
    expect(await lifecycle.operation(operation.id)).toMatchObject({ status: "succeeded" });
  });

  test("two creates under one name: one of them is refused", async () => {
    const lifecycle = new MemoryWorld().lifecycle();
    const both = await Promise.allSettled([1, 2].map(() => lifecycle.create({ image: "debian", name: "same" })));
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(both.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "name_taken" } });
  });
});
