import { TorporError } from "@torpor/contract";
import { describe, expect, test } from "vitest";
import { broken, withPaused } from "../testing/scenes.ts";

describe("a restore that fails", () => {
  test("prefer: boots fresh and says so everywhere", async () => {
    const { world, lifecycle } = await withPaused();
    const { checkpoint } = await lifecycle.get("base");
    world.checkpoints.corrupt(checkpoint!.id, "pages");
    const { operation, sandbox } = await lifecycle.resume("base");
    expect(operation).toMatchObject({ status: "succeeded", result: { restored: "files", reason: expect.stringContaining("part pages") } });
    expect(sandbox).toMatchObject({ state: "running", generation: 2, restored: "files", checkpoint: { id: checkpoint!.id } });
    expect((await lifecycle.events("base")).map(({ type }) => type)).toEqual([
      "sandbox.created",
      "sandbox.paused",
      "sandbox.resumed",
      "memory_lost",
    ]);
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

  test("the checkpoint of another sandbox is refused, naming both", async () => {
    const { world, lifecycle } = await withPaused();
    const other = (await lifecycle.create({ image: "debian", name: "other" })).sandbox;
    const foreign = (await lifecycle.pause("other")).sandbox?.checkpoint?.id ?? "";
    const { id, checkpoint } = await lifecycle.get("base");
    world.checkpoints.replace(checkpoint?.id ?? "", foreign);
    const { operation, sandbox } = await lifecycle.resume("base", { memory: "require" });
    const found = `it is ${foreign} of sandbox ${other?.id}, not ${checkpoint?.id} of sandbox ${id}`;
    const message = `the checkpoint of sandbox base belongs to another sandbox: ${found}`;
    expect(operation).toMatchObject({ status: "failed", error: { code: "checkpoint_incompatible", message } });
    expect(sandbox).toMatchObject({ state: "paused", checkpoint: { id: checkpoint?.id } });
    expect(await world.engine.list()).toEqual([]);
    expect((await lifecycle.resume("other", { memory: "require" })).operation.result).toMatchObject({ restored: "memory" });
    expect((await lifecycle.fork("base")).operation).toMatchObject({
      error: { code: "checkpoint_incompatible", message: expect.stringContaining(found) },
    });
  });

  test("P28: is tried once more, on the disk as it was at the pause", async () => {
    const { world, lifecycle } = await withPaused();
    const restore = world.engine.restore.bind(world.engine);
    world.engine.restore = async (spec, ...rest) => {
      await restore(spec, ...rest);
      world.disks.openAt(spec.disk).disk.files.set("/data/of-the-failed-try", { content: "", mode: 0o644 });
      world.engine.restore = restore;
      throw broken;
    };
    expect((await lifecycle.resume("base")).operation.result).toMatchObject({ restored: "memory" });
    const { files } = await lifecycle.guest("base");
    await expect(files.stat("/data/of-the-failed-try", {})).rejects.toMatchObject({ code: "file_not_found" });
    await lifecycle.idle();
    expect(await world.disks.list()).toHaveLength(1);
    expect(world.errors.filter((line) => line.includes(": Error:"))).toEqual([]);
  });

  test.each([new TorporError("engine_failed", "no network namespace can be made"), new TypeError("a fault of ours")])(
    "for a cause that is not the checkpoint's (%s) leaves it paused, also with prefer: it may pass",
    async (error) => {
      const { world, lifecycle } = await withPaused();
      const restore = world.engine.restore.bind(world.engine);
      world.engine.restore = async () => {
        throw error;
      };
      expect(await lifecycle.resume("base")).toMatchObject({ operation: { status: "failed" }, sandbox: { state: "paused" } });
      world.engine.restore = restore;
      expect((await lifecycle.resume("base")).operation.result).toMatchObject({ restored: "memory" });
    },
  );

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
