import { describe, expect, test } from "vitest";
import { broken, withSandbox } from "../testing/scenes.ts";

const one = async function* (text: string) {
  yield new TextEncoder().encode(text);
};

/** A file and a process, kept as `kept`; then the file changes and the process ends. */
async function withKept() {
  const { world, lifecycle } = await withSandbox();
  const { files, sessions } = await lifecycle.guest("base");
  await files.write("/data/x", one("then"), {});
  await sessions.start({ sessionId: "se_a", argv: ["sleep", "1"], hold: false });
  await lifecycle.snapshot("base", { name: "kept" });
  await files.write("/data/x", one("afterwards"), {});
  await sessions.remove("se_a", true);
  return { world, lifecycle };
}

describe("a restore in place", () => {
  test.each(["pause", "stop"] as const)(
    "after a %s brings memory and files back under the same id, and frees what there was (F07)",
    async (end) => {
      const { world, lifecycle } = await withKept();
      await lifecycle[end]("base");
      const before = await lifecycle.get("base");
      const { operation, sandbox } = await lifecycle.restore("base", { snapshot: "kept" });
      expect(operation.result).toMatchObject({ snapshot: { name: "kept" }, memory: true });
      expect(sandbox).toMatchObject({ id: before.id, address: before.address, state: "paused", generation: 1, stoppedAt: null });
      expect(await world.disks.list()).toHaveLength(2);
      expect(await world.checkpoints.list()).toHaveLength(2);
      expect((await lifecycle.resume("base", { memory: "require" })).sandbox).toMatchObject({ restored: "memory", generation: 2 });
      const { files, sessions } = await lifecycle.guest("base");
      expect(await files.stat("/data/x", {})).toMatchObject({ size: 4 });
      expect(await sessions.get("se_a")).toMatchObject({ end: null });
      await lifecycle.pause("base");
      expect((await lifecycle.restore("base", { snapshot: "kept" })).operation.status).toBe("succeeded");
    },
  );

  test.each([
    ["pause", "paused"],
    ["stop", "stopped"],
  ] as const)("of files only after a %s leaves it %s, without memory", async (end, state) => {
    const { world, lifecycle } = await withKept();
    await lifecycle[end]("base");
    expect((await lifecycle.restore("base", { snapshot: "kept", memory: false })).sandbox).toMatchObject({ state, checkpoint: null });
    expect(await world.checkpoints.list()).toHaveLength(1);
    await (state === "paused" ? lifecycle.resume("base") : lifecycle.start("base"));
    expect(await (await lifecycle.guest("base")).files.stat("/data/x", {})).toMatchObject({ size: 4 });
  });

  test("to a snapshot of another sandbox takes its image and its bounds too", async () => {
    const { lifecycle } = await withKept();
    await lifecycle.create({ image: "python:3.12", name: "other", resources: { memoryBytes: 1024 ** 3 } });
    await lifecycle.pause("other");
    const { image, resources } = await lifecycle.get("base");
    const { sandbox } = await lifecycle.restore("other", { snapshot: "kept" });
    expect(sandbox).toMatchObject({ name: "other", image, resources });
    expect((await lifecycle.resume("other", { memory: "require" })).sandbox).toMatchObject({ restored: "memory" });
  });

  test("that fails keeps the files and the memory that there were", async () => {
    const { world, lifecycle } = await withKept();
    await lifecycle.pause("base");
    const before = await lifecycle.get("base");
    world.checkpoints.corrupt((await lifecycle.snapshots.get("kept")).checkpoint?.id ?? "", "manifest");
    const { operation, sandbox } = await lifecycle.restore("base", { snapshot: "kept" });
    expect(operation.error).toMatchObject({ code: "checkpoint_corrupt" });
    expect(sandbox).toMatchObject({ ...before, updatedAt: expect.any(String) });
    expect(await world.disks.list()).toHaveLength(2);
    expect((await lifecycle.resume("base", { memory: "require" })).sandbox).toMatchObject({ restored: "memory" });
  });

  test("of one that failed gives up the runtime that was left, and only when the copy is there", async () => {
    const { world, lifecycle } = await withKept();
    for (let tries = 0; tries < 3; tries++) world.engine.failNext("destroy", broken);
    expect((await lifecycle.stop("base")).sandbox).toMatchObject({ state: "failed", runtimeId: expect.any(String) });
    expect((await lifecycle.restore("base", { snapshot: "kept" })).sandbox).toMatchObject({
      state: "paused",
      runtimeId: null,
      failure: null,
    });
    expect(await world.engine.list()).toEqual([]);
  });

  test.each([
    ["of a running one", {}, "sandbox_not_paused"],
    ["to one that there is not", { snapshot: "nope" }, "snapshot_not_found"],
  ])("%s is refused", async (_title, changed, code) => {
    const { lifecycle } = await withKept();
    await expect(lifecycle.restore("base", { snapshot: "kept", ...changed })).rejects.toMatchObject({ code });
    expect((await lifecycle.operations("base"))[0]?.kind).toBe("snapshot");
  });

  test("to a larger disk than the node has room for is refused, and nothing has changed", async () => {
    const { world, lifecycle } = await withKept();
    await lifecycle.create({ image: "debian", name: "small", resources: { diskBytes: 1024 ** 3 } });
    const before = (await lifecycle.stop("small")).sandbox;
    world.capacity = { ...world.capacity, diskBytes: 12 * 1024 ** 3 };
    await expect(world.lifecycle().restore("small", { snapshot: "kept" })).rejects.toMatchObject({
      code: "capacity_exceeded",
      details: { resource: "disk", asked: 9 * 1024 ** 3 },
    });
    expect(await lifecycle.get("small")).toEqual(before);
  });

  test("of memory that knows another network is refused", async () => {
    const { lifecycle } = await withKept();
    await lifecycle.create({ image: "debian", name: "alone", network: "none" });
    await lifecycle.pause("alone");
    await expect(lifecycle.restore("alone", { snapshot: "kept" })).rejects.toMatchObject({ code: "checkpoint_incompatible" });
    expect((await lifecycle.restore("alone", { snapshot: "kept", memory: false })).sandbox).toMatchObject({ state: "paused" });
  });
});

describe("a rebase", () => {
  async function atRest(end: "pause" | "stop") {
    const { world, lifecycle } = await withKept();
    await world.images.import({ path: "/newer.tar", reference: "newer" });
    await lifecycle[end]("base");
    return { world, lifecycle, before: await lifecycle.get("base") };
  }

  test("puts the files over another image, boots fresh, and can be taken back once, with the memory", async () => {
    const { world, lifecycle, before } = await atRest("pause");
    const { operation, sandbox } = await lifecycle.rebase("base", { image: "newer" });
    expect(sandbox).toMatchObject({ state: "paused", checkpoint: null, image: { reference: "newer" } });
    const rollback = await lifecycle.snapshots.get((operation.result.rollback as { id: string }).id);
    expect(rollback).toMatchObject({ rollbackOf: before.id, image: before.image, checkpoint: expect.any(Object) });
    expect(Date.parse(rollback.expiresAt ?? "") - world.clock.now().getTime()).toBe(7 * 24 * 60 * 60 * 1000);
    expect((await lifecycle.resume("base")).sandbox).toMatchObject({ restored: "files" });
    expect(await (await lifecycle.guest("base")).files.stat("/data/x", {})).toMatchObject({ size: 10 });
    expect(await lifecycle.imagesInUse()).toContain(before.image.digest);
    await expect(lifecycle.rollback("base")).rejects.toMatchObject({ code: "sandbox_not_paused" });
    await lifecycle.stop("base");
    expect((await lifecycle.rollback("base")).sandbox).toMatchObject({ state: "paused", image: before.image });
    expect((await lifecycle.resume("base", { memory: "require" })).sandbox).toMatchObject({ restored: "memory" });
    await lifecycle.pause("base");
    await expect(lifecycle.rollback("base")).rejects.toMatchObject({ code: "snapshot_not_found" });
  });

  test("is kept for a rollback as long as it was asked for", async () => {
    const { world, lifecycle } = await atRest("stop");
    await lifecycle.rebase("base", { image: "newer", rollbackMs: 60_000 });
    world.clock.advance(60_000);
    expect(await lifecycle.snapshots.expire()).toBe(1);
    await expect(lifecycle.rollback("base")).rejects.toMatchObject({ code: "snapshot_not_found" });
    expect(await world.disks.list()).toHaveLength(2);
  });

  test.each([
    ["onto an image that is not here", "nope", "image_not_found"],
    ["onto the image that it has", "debian", "invalid_request"],
  ])("%s is refused", async (_title, image, code) => {
    const { lifecycle, before } = await atRest("stop");
    await expect(lifecycle.rebase("base", { image })).rejects.toMatchObject({ code });
    expect(await lifecycle.get("base")).toEqual(before);
  });
});
