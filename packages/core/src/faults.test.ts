import { TorporError } from "@torpor/contract";
import { describe, expect, test } from "vitest";
import type { Lifecycle } from "./sandboxes.ts";
import { FakeClock, MemoryWorld } from "./testing/index.ts";

const broken = new TorporError("engine_failed", "the engine broke");

describe("a pause that fails", () => {
  test.each(["freeze", "capture"] as const)("in %s leaves the sandbox running, its streams unbroken, and nothing behind", async (call) => {
    const { world, lifecycle } = await withSandbox();
    const guest = await lifecycle.guest("base");
    await guest.sessions.start({ sessionId: "se_a", argv: ["counter"], hold: false });
    world.engine.failNext(call, broken);
    const { operation, sandbox } = await lifecycle.pause("base");
    expect(operation).toMatchObject({ status: "failed", phase: call, error: { code: "engine_failed", message: "the engine broke" } });
    expect(sandbox).toMatchObject({ state: "running", generation: 1, checkpoint: null, operation: null });
    expect(await lifecycle.guest("base")).toBe(guest);
    world.engine.tick();
    expect(await guest.sessions.get("se_a")).toMatchObject({ lastSeq: 1 });
    await guest.sessions.start({ sessionId: "se_b", argv: ["true"], hold: false });
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
    const { world, lifecycle } = await withSandbox();
    const { runtimeId } = await lifecycle.get("base");
    world.engine.failNext("capture", broken);
    world.engine.failNext("thaw", broken);
    const { sandbox } = await lifecycle.pause("base");
    expect(sandbox).toMatchObject({ state: "failed", runtimeId: null, failure: { code: "engine_failed" } });
    expect(await world.engine.inspect(runtimeId!)).toEqual({ state: "absent" });
    expect((await lifecycle.start("base")).sandbox).toMatchObject({ state: "running", failure: null });
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

describe("a restore that fails", () => {
  test("prefer: boots fresh and says so everywhere", async () => {
    const { world, lifecycle } = await withPaused();
    const { checkpoint } = await lifecycle.get("base");
    world.checkpoints.corrupt(checkpoint!.id, "pages");
    const { operation, sandbox } = await lifecycle.resume("base");
    expect(operation).toMatchObject({ status: "succeeded", result: { restored: "files", reason: expect.stringContaining("part pages") } });
    expect(sandbox).toMatchObject({ state: "running", generation: 2, restored: "files", checkpoint: { id: checkpoint!.id } });
    expect((await lifecycle.events("base")).map(({ type }) => type)).toEqual(["sandbox.created", "sandbox.paused", "sandbox.resumed", "memory_lost"]);
    // Kept to be looked at, until the next pause takes its place.
    expect(await world.checkpoints.list()).toEqual([checkpoint!.id]);
    const again = await lifecycle.pause("base");
    expect(await world.checkpoints.list()).toEqual([again.sandbox?.checkpoint?.id]);
  });

  test("require: stays paused with the error, and can succeed when the cause is gone", async () => {
    const { world, lifecycle } = await withPaused();
    world.engine.version = "2";
    const { operation, sandbox } = await lifecycle.resume("base", { memory: "require" });
    expect(operation).toMatchObject({ status: "failed", error: { code: "checkpoint_incompatible" } });
    expect(sandbox).toMatchObject({ state: "paused", generation: 1, failure: { code: "checkpoint_incompatible" } });
    world.engine.version = "1";
    const again = await lifecycle.resume("base", { memory: "require" });
    expect(again).toMatchObject({ operation: { result: { restored: "memory" } }, sandbox: { state: "running", failure: null } });
    await lifecycle.idle();
    expect(await world.disks.list()).toHaveLength(1);
  });

  test("P28: is tried once more, on the disk as it was", async () => {
    const { world, lifecycle } = await withPaused();
    world.engine.failNext("restore", broken, { after: true });
    expect((await lifecycle.resume("base")).operation.result).toMatchObject({ restored: "memory" });
    expect(world.errors.filter((line) => line.includes("Error:"))).toEqual([]);
  });

  test("for want of room leaves it paused, also with prefer: its memory is still there", async () => {
    const { world, lifecycle } = await withPaused();
    world.engine.failNext("restore", new TorporError("capacity_exceeded", "512 MiB are needed, 100 MiB are free"));
    const { operation, sandbox } = await lifecycle.resume("base");
    expect(operation.error?.code).toBe("capacity_exceeded");
    expect(sandbox?.state).toBe("paused");
    expect((await lifecycle.resume("base")).operation.result).toMatchObject({ restored: "memory" });
  });

  test("discard boots fresh, and that is no loss", async () => {
    const { world, lifecycle } = await withPaused();
    const { operation } = await lifecycle.resume("base", { memory: "discard" });
    expect(operation.result).toEqual({ restored: "files", phases: expect.anything() });
    expect((await lifecycle.events("base")).map(({ type }) => type)).not.toContain("memory_lost");
    await lifecycle.idle();
    expect(await world.checkpoints.list()).toEqual([]);
  });

  test("a checkpoint of another disk state is never restored", async () => {
    const { world, lifecycle } = await withPaused();
    const record = (await world.store.findSandbox("base"))!;
    await world.disks.clone(record.diskId!, "dk_moved");
    await world.store.commit({ sandboxes: [{ ...record, diskId: "dk_moved" }] });
    const { operation } = await lifecycle.resume("base", { memory: "require" });
    expect(operation.error).toMatchObject({ code: "checkpoint_incompatible", message: expect.stringContaining("another disk state") });
  });
});

describe("a create that fails", () => {
  test.each(["boot", "guest"] as const)("in %s leaves nothing but its operation", async (call) => {
    const world = new MemoryWorld();
    const lifecycle = world.lifecycle();
    world.engine.failNext(call, broken);
    const { operation, sandbox } = await lifecycle.create({ image: "debian", name: "base" });
    expect(operation).toMatchObject({ status: "failed", error: { code: "engine_failed" } });
    expect(sandbox).toBeNull();
    expect(await lifecycle.operation(operation.id)).toMatchObject({ status: "failed" });
    expect([await lifecycle.list(), await world.engine.list(), await world.disks.list()]).toEqual([[], [], []]);
    expect((await lifecycle.create({ image: "debian", name: "base" })).operation.status).toBe("succeeded");
  });

  test("for want of the image, says which", async () => {
    const world = new MemoryWorld();
    const { operation } = await world.lifecycle().create({ image: "nope:1" });
    expect(operation.error).toMatchObject({ code: "image_not_found", message: expect.stringContaining("nope:1") });
    await expect(world.lifecycle().create({ image: "python:3.12", pull: false })).rejects.toMatchObject({ code: "image_not_found" });
  });
});

describe("a fork", () => {
  test("F06: each child succeeds or fails by itself, and nothing is left of the failed one", async () => {
    const { world, lifecycle } = await withSandbox();
    world.engine.failNext("restore", broken);
    const { operation } = await lifecycle.fork("base", { name: "kid", count: 3 });
    expect(operation.status).toBe("succeeded");
    const children = operation.result.children as { error: { code: string } | null }[];
    expect(children.filter(({ error }) => error === null)).toHaveLength(2);
    expect(children.filter(({ error }) => error?.code === "engine_failed")).toHaveLength(1);
    await lifecycle.idle();
    expect(await world.disks.list()).toHaveLength(3);
    expect(await lifecycle.list()).toHaveLength(3);
  });

  test("of which no child lives has failed; the source goes on", async () => {
    const { world, lifecycle } = await withSandbox();
    world.engine.failNext("restore", broken);
    const { operation, sandbox } = await lifecycle.fork("base");
    expect(operation).toMatchObject({ status: "failed", error: { code: "engine_failed" } });
    expect(sandbox?.state).toBe("running");
  });

  test("that fails before the thaw thaws", async () => {
    const { world, lifecycle } = await withSandbox();
    world.engine.failNext("capture", broken);
    expect((await lifecycle.fork("base")).operation.status).toBe("failed");
    const { runtimeId } = await lifecycle.get("base");
    expect(await world.engine.inspect(runtimeId!)).toEqual({ state: "running" });
    expect(await world.disks.list()).toHaveLength(1);
  });

  test("under a name that is taken is refused before anything happens", async () => {
    const { lifecycle } = await withSandbox();
    await lifecycle.create({ image: "debian", name: "kid-2" });
    await expect(lifecycle.fork("base", { name: "kid", count: 2 })).rejects.toMatchObject({ code: "name_taken" });
    expect(await lifecycle.operations("base")).toHaveLength(1);
  });
});

describe("a runtime that ends by itself", () => {
  test.each([
    [{ reason: "exited", exitCode: 0, message: "done" }, "stopped", null],
    [{ reason: "oom", exitCode: null, message: "the host's memory limit" }, "failed", "the host's memory limit"],
  ] as const)("%o: %s", async (end, state, message) => {
    const { world, lifecycle } = await withSandbox();
    const { runtimeId } = await lifecycle.get("base");
    world.engine.end(runtimeId!, end);
    await settled(lifecycle, "base", state);
    expect(await lifecycle.get("base")).toMatchObject({ state, runtimeId: null, failure: message === null ? null : { message } });
    expect((await lifecycle.events("base")).at(-1)).toMatchObject({ type: "sandbox.ended", data: end });
    expect(await world.engine.list()).toEqual([]);
    await expect(lifecycle.guest("base")).rejects.toMatchObject({ code: "sandbox_not_running" });
  });

  test("while no daemon was there is found by the next", async () => {
    const { world } = await withSandbox();
    const { runtimeId } = await world.lifecycle().get("base");
    world.engine.forgetDaemon();
    await world.engine.destroy(runtimeId!);
    const lifecycle = world.lifecycle();
    expect(await lifecycle.recover()).toMatchObject({ ended: 1, reconnected: 0 });
    expect(await lifecycle.get("base")).toMatchObject({ state: "failed", failure: { message: expect.stringContaining("nobody saw its end") } });
  });
});

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
    await expect(lifecycle.guest("base")).rejects.toMatchObject({ code: "operation_active", message: expect.stringContaining("phase capture") });
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

describe("what the node or the engine can't do", () => {
  test("pause, resume and fork are refused by the engine's name", async () => {
    const lifecycle = new MemoryWorld({ unsupported: ["pause", "resume", "fork"] }).lifecycle();
    await lifecycle.create({ image: "debian", name: "base" });
    for (const command of ["pause", "resume", "fork"] as const) {
      const refusal = { code: "capability_unsupported", message: expect.stringContaining(`the engine memory can't ${command}`) };
      await expect(lifecycle[command]("base")).rejects.toMatchObject(refusal);
    }
    expect((await lifecycle.stop("base")).sandbox?.state).toBe("stopped");
  });

  test.each([
    [{ memoryBytes: 1024 }, "invalid_request", "at least"],
    [{ memoryBytes: 1024 ** 4 }, "capacity_exceeded", "the node has 8192 MiB"],
    [{ cpus: 64 }, "capacity_exceeded", "the node has 4"],
  ])("resources of %o", async (resources, code, words) => {
    const world = new MemoryWorld();
    await expect(world.lifecycle().create({ image: "debian", resources })).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    expect(await world.store.listSandboxes()).toEqual([]);
  });

  test("what there is not", async () => {
    const lifecycle = new MemoryWorld().lifecycle();
    await expect(lifecycle.pause("nobody")).rejects.toMatchObject({ code: "sandbox_not_found", message: "there is no sandbox nobody" });
    await expect(lifecycle.operation("op_none")).rejects.toMatchObject({ code: "operation_not_found" });
    for (const read of [lifecycle.get, lifecycle.operations, lifecycle.events, lifecycle.guest]) {
      await expect(read("nobody")).rejects.toMatchObject({ code: "sandbox_not_found" });
    }
  });

  test("a phase of a newer version stops the recovery, which touches nothing", async () => {
    const { world, lifecycle } = await withSandbox();
    const record = (await world.store.findSandbox("base"))!;
    const [created] = await world.store.listOperations(record.id);
    await world.store.commit({ operations: [{ ...created!, id: "op_new", version: 0, kind: "pause", status: "running", phase: "upload" }] });
    await expect(lifecycle.recover()).rejects.toMatchObject({ message: expect.stringContaining("phase upload") });
    expect(await world.engine.list()).toHaveLength(1);
  });
});

async function withSandbox(): Promise<{ world: MemoryWorld; lifecycle: Lifecycle }> {
  const world = new MemoryWorld();
  const lifecycle = world.lifecycle();
  await lifecycle.create({ image: "debian", name: "base" });
  return { world, lifecycle };
}

async function withPaused(): Promise<{ world: MemoryWorld; lifecycle: Lifecycle }> {
  const made = await withSandbox();
  await made.lifecycle.pause("base");
  return made;
}

/** Holds an operation at a step. */
function gateAt(step: string) {
  let reach = (): void => {};
  let open = (): void => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const failpoint = async (name: string): Promise<void> => {
    if (name !== step) return;
    reach();
    await opened;
  };
  return { reached, open: () => open(), failpoint };
}

async function settled(lifecycle: Lifecycle, name: string, state: string): Promise<void> {
  await expect.poll(async () => (await lifecycle.get(name)).state).toBe(state);
}
