import { describe, expect, test } from "vitest";
import { MemoryWorld } from "../testing/memory-world.ts";
import { broken, gateAt, withSandbox } from "../testing/scenes.ts";

describe("a pause that fails", () => {
  test.each(["freeze", "capture"] as const)("in %s leaves the sandbox running, its streams unbroken, and nothing behind", async (call) => {
    const { world, lifecycle } = await withSandbox();
    const runtimeId = (await lifecycle.get("base")).runtimeId ?? "";
    const guest = await world.engine.guest(runtimeId);
    await guest.sessions.start({ sessionId: "se_a", argv: ["counter"], hold: false });
    world.engine.failNext(call, broken);
    const { operation, sandbox } = await lifecycle.pause("base");
    expect(operation).toMatchObject({ status: "failed", phase: call, error: { code: "engine_failed", message: "the engine broke" } });
    expect(sandbox).toMatchObject({ state: "running", generation: 1, checkpoint: null, operation: null });
    const again = await world.engine.guest(runtimeId);
    expect(again).toBe(guest);
    world.engine.tick();
    expect(await again.sessions.get("se_a")).toMatchObject({ lastSeq: 1 });
    await again.sessions.start({ sessionId: "se_b", argv: ["true"], hold: false });
    expect(await world.checkpoints.list()).toEqual([]);
    expect((await lifecycle.events("base")).map(({ type }) => type)).toEqual(["sandbox.created", "pause.failed"]);
  });

  test("D04: for want of room, says so", async () => {
    const { world, lifecycle } = await withSandbox();
    world.checkpoints.freeBytes = 1024;
    const { operation, sandbox } = await lifecycle.pause("base");
    expect(operation.error?.code).toBe("disk_full");
    expect(sandbox?.state).toBe("running");
    world.checkpoints.freeBytes = Number.POSITIVE_INFINITY;
    expect((await lifecycle.pause("base")).operation.status).toBe("succeeded");
  });

  test("when the runtime dies in it, is failed with the cause, and can be started from its disk", async () => {
    const world = new MemoryWorld();
    const gate = gateAt("pause.capture");
    const lifecycle = world.lifecycle(gate.failpoint);
    const { sandbox: created } = await lifecycle.create({ image: "debian", name: "base" });
    const pausing = lifecycle.pause("base");
    await gate.reached;
    world.engine.end(created!.runtimeId!, { reason: "killed", exitCode: 137, message: "killed from outside" });
    gate.open();
    expect(await pausing).toMatchObject({
      operation: { status: "failed" },
      sandbox: { state: "failed", runtimeId: null, failure: { message: "killed from outside" } },
    });
    expect([await world.engine.list(), await world.checkpoints.list()]).toEqual([[], []]);
    expect((await lifecycle.start("base")).sandbox).toMatchObject({ state: "running", failure: null });
  });

  test("tries to thaw again before it gives up, and then keeps the frozen runtime", async () => {
    const { world, lifecycle } = await withSandbox();
    world.engine.failNext("capture", broken);
    for (let tries = 0; tries < 3; tries++) world.engine.failNext("thaw", broken);
    expect((await lifecycle.pause("base")).sandbox).toMatchObject({ state: "running", failure: null });

    world.engine.failNext("capture", broken);
    for (let tries = 0; tries < 4; tries++) world.engine.failNext("thaw", broken);
    const { sandbox } = await lifecycle.pause("base");
    expect(sandbox).toMatchObject({ state: "failed", failure: { message: expect.stringContaining("does not thaw") } });
    expect(await world.engine.list()).toEqual([sandbox?.runtimeId]);
    const started = await lifecycle.start("base");
    expect(await world.engine.list()).toEqual([started.sandbox?.runtimeId]);
  });

  test("after the checkpoint was committed, it goes on to the end", async () => {
    const { world, lifecycle } = await withSandbox();
    world.engine.failNext("destroy", broken);
    expect((await lifecycle.pause("base")).sandbox?.state).toBe("paused");
    expect((await lifecycle.resume("base", { memory: "require" })).operation.status).toBe("succeeded");
  });

  test("whose runtime can't be freed at all keeps its memory: the resume frees it first", async () => {
    const { world, lifecycle } = await withSandbox();
    const { runtimeId } = await lifecycle.get("base");
    for (let tries = 0; tries < 3; tries++) world.engine.failNext("destroy", broken);
    const { sandbox } = await lifecycle.pause("base");
    expect(sandbox).toMatchObject({ state: "failed", runtimeId });
    const resumed = await lifecycle.resume("base", { memory: "require" });
    expect(resumed).toMatchObject({ operation: { status: "succeeded" }, sandbox: { state: "running", restored: "memory" } });
    expect(await world.engine.list()).toEqual([resumed.sandbox?.runtimeId]);
  });
});
