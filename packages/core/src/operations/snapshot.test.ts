import { describe, expect, test } from "vitest";
import type { MemoryWorld } from "../testing/index.ts";
import { broken, gateAt, withPaused, withSandbox } from "../testing/scenes.ts";

const one = async function* (text: string) {
  yield new TextEncoder().encode(text);
};

describe("a snapshot of a running sandbox", () => {
  test("leaves it running, and says what it kept", async () => {
    const { world, lifecycle } = await withSandbox();
    const { operation, sandbox } = await lifecycle.snapshot("base", { name: "kept", labels: { step: "1" }, pinned: true });
    expect(operation).toMatchObject({ status: "succeeded", result: { snapshot: { name: "kept" }, memory: true } });
    expect(sandbox).toMatchObject({ state: "running", generation: 1 });
    expect(await lifecycle.snapshots.get("kept")).toMatchObject({
      source: { id: sandbox?.id, name: "base" },
      parentId: null,
      image: sandbox?.image,
      resources: sandbox?.resources,
      checkpoint: { storedBytes: operation.result.checkpointBytes },
      labels: { step: "1" },
      pinned: true,
      expiresAt: null,
      failure: null,
    });
    expect((await lifecycle.events("base")).at(-1)).toMatchObject({ type: "sandbox.snapshotted", data: { snapshot: { name: "kept" } } });
    expect(await holdings(world)).toEqual({ disks: 2, checkpoints: 1 });
  });

  test.each(["freeze", "capture", "thaw"] as const)("that fails in %s leaves nothing but its operation (D06)", async (call) => {
    const { world, lifecycle } = await withSandbox();
    world.engine.failNext(call, broken);
    if (call === "thaw") for (let tries = 0; tries < 3; tries++) world.engine.failNext(call, broken);
    const { operation, sandbox } = await lifecycle.snapshot("base", { name: "kept" });
    expect(operation).toMatchObject({ status: "failed", error: { code: "engine_failed" } });
    expect(sandbox).toMatchObject({ state: "running" });
    expect(await lifecycle.snapshots.list()).toEqual([]);
    expect(await holdings(world)).toEqual({ disks: 1, checkpoints: 0 });
    expect((await lifecycle.snapshot("base", { name: "kept" })).operation.status).toBe("succeeded");
  });

  test("under a name that is taken, or that is being taken, is refused before anything happens", async () => {
    const { world } = await withSandbox();
    const gate = gateAt("snapshot.capture");
    const lifecycle = world.lifecycle(gate.failpoint);
    await lifecycle.create({ image: "debian", name: "other" });
    const first = lifecycle.snapshot("base", { name: "kept" });
    await gate.reached;
    await expect(lifecycle.snapshot("other", { name: "kept" })).rejects.toMatchObject({ code: "name_taken" });
    gate.open();
    await first;
    await expect(lifecycle.snapshot("other", { name: "kept" })).rejects.toMatchObject({ code: "name_taken" });
    expect((await lifecycle.operations("other")).map(({ kind }) => kind)).toEqual(["create"]);
  });

  test("of two at the same instant with one name one fails, and is undone", async () => {
    const { world, lifecycle } = await withSandbox();
    await lifecycle.create({ image: "debian", name: "other" });
    const both = await Promise.allSettled(["base", "other"].map((name) => lifecycle.snapshot(name, { name: "kept" })));
    const codes = both.map((each) => (each.status === "rejected" ? each.reason.code : (each.value.operation.error?.code ?? "succeeded")));
    expect(codes.sort()).toEqual(["name_taken", "succeeded"]);
    expect(await lifecycle.snapshots.list()).toHaveLength(1);
    expect(await holdings(world)).toEqual({ disks: 3, checkpoints: 1 });
  });

  test("with a time in the past is refused", async () => {
    const { world, lifecycle } = await withSandbox();
    const expiresAt = world.clock.now().toISOString();
    await expect(lifecycle.snapshot("base", { expiresAt })).rejects.toMatchObject({ code: "invalid_request" });
    expect(await lifecycle.operations("base")).toHaveLength(1);
  });

  test("on an engine that can't freeze is refused, also with files only", async () => {
    const { MemoryWorld } = await import("../testing/index.ts");
    const world = new MemoryWorld({ unsupported: ["pause"] });
    const lifecycle = world.lifecycle();
    await lifecycle.create({ image: "debian", name: "base" });
    for (const memory of [true, false])
      await expect(lifecycle.snapshot("base", { memory })).rejects.toMatchObject({ code: "capability_unsupported" });
    await lifecycle.stop("base");
    expect((await lifecycle.snapshot("base", { memory: false })).operation.status).toBe("succeeded");
  });
});

describe("a sandbox from a snapshot", () => {
  test("has its files and processes, when everything else is gone", async () => {
    const { world, lifecycle } = await withSandbox();
    const { files, sessions } = await lifecycle.guest("base");
    await files.write("/data/x", one("then"), {});
    const { pid } = await sessions.start({ sessionId: "se_a", argv: ["sleep", "1"], hold: false });
    await lifecycle.snapshot("base", { name: "kept" });
    await files.write("/data/x", one("later"), {});
    await lifecycle.remove("base", { force: true });
    const { sandbox } = await lifecycle.create({ snapshot: "kept", name: "base" });
    expect(sandbox).toMatchObject({ state: "running", restored: "memory", snapshotId: (await lifecycle.snapshots.get("kept")).id });
    const guest = await lifecycle.guest("base");
    expect(await guest.sessions.get("se_a")).toMatchObject({ pid, end: null });
    expect(await guest.files.stat("/data/x", {})).toMatchObject({ size: 4 });
    await lifecycle.snapshots.remove("kept");
    await lifecycle.pause("base");
    expect((await lifecycle.resume("base", { memory: "require" })).sandbox).toMatchObject({ state: "running" });
    await lifecycle.idle();
    expect(await holdings(world)).toEqual({ disks: 1, checkpoints: 0 });
  });

  test("F06: of several each succeeds or fails by itself, and the answer has them all, also of a repeated call", async () => {
    const { world, lifecycle } = await withSandbox();
    await lifecycle.snapshot("base", { name: "kept" });
    world.engine.failNext("restore", broken);
    const once = { key: "k", fingerprint: "f" };
    const request = { snapshot: "kept", name: "kid", count: 3 } as const;
    const answer = await lifecycle.create(request, { once });
    const all = [answer, ...(answer.siblings ?? [])];
    expect(all.map(({ operation }) => operation.status).sort()).toEqual(["failed", "succeeded", "succeeded"]);
    expect(all.flatMap(({ sandbox }) => sandbox?.name ?? [])).toHaveLength(2);
    expect(await lifecycle.create(request, { once })).toEqual(answer);
    expect(await lifecycle.list()).toHaveLength(3);
    expect(await world.checkpoints.list()).toHaveLength(1);
  });

  test("of several for which there is not enough room none is made, and the numbers are of all", async () => {
    const { world, lifecycle } = await withSandbox();
    await lifecycle.snapshot("base", { name: "kept" });
    world.capacity = { ...world.capacity, memoryBytes: 3 * 512 * 1024 ** 2 };
    const full = { code: "capacity_exceeded", details: { resource: "memory", asked: 3 * 512 * 1024 ** 2, free: 2 * 512 * 1024 ** 2 } };
    await expect(world.lifecycle().create({ snapshot: "kept", count: 3 })).rejects.toMatchObject(full);
    expect(await lifecycle.list()).toHaveLength(1);
    expect((await world.lifecycle().create({ snapshot: "kept", count: 2 })).siblings).toHaveLength(1);
  });

  test("takes files only when asked to, and other settings", async () => {
    const { lifecycle } = await withSandbox();
    await lifecycle.snapshot("base", { name: "kept" });
    const { sandbox } = await lifecycle.create({ snapshot: "kept", memory: false, network: "none", env: { A: "1" }, labels: { b: "2" } });
    expect(sandbox).toMatchObject({ restored: "files", network: "none", address: null, env: { A: "1" }, labels: { b: "2" } });
  });

  test.each([
    ["that there is not", { snapshot: "nope" }, "snapshot_not_found"],
    ["without memory, whose memory is wanted", { snapshot: "files", memory: true }, "checkpoint_incompatible"],
    ["on another network", { snapshot: "kept", network: "none" as const }, "checkpoint_incompatible"],
    ["under a name that is taken", { snapshot: "kept", name: "base" }, "name_taken"],
    ["under a name that is taken by another", { snapshot: "kept", name: "kid", count: 2 }, "name_taken"],
  ])("%s is refused, and nothing is made", async (_title, request, code) => {
    const { world, lifecycle } = await withSandbox();
    await lifecycle.snapshot("base", { name: "kept" });
    await lifecycle.snapshot("base", { name: "files", memory: false });
    await lifecycle.create({ image: "debian", name: "kid-2" });
    const before = await holdings(world);
    await expect(lifecycle.create(request)).rejects.toMatchObject({ code });
    expect(await lifecycle.list()).toHaveLength(2);
    expect(await holdings(world)).toEqual(before);
  });

  test("of an engine that is another is refused with its memory, and boots from its files", async () => {
    const { world, lifecycle } = await withSandbox();
    await lifecycle.snapshot("base", { name: "kept" });
    const kept = await world.store.findSnapshot("kept");
    await world.store.commit({ snapshots: [{ ...kept!, engine: "other" }] });
    await expect(lifecycle.create({ snapshot: "kept" })).rejects.toMatchObject({ code: "checkpoint_incompatible" });
    expect((await lifecycle.create({ snapshot: "kept", memory: false })).sandbox).toMatchObject({ restored: "files" });
  });
});

describe("a snapshot of a sandbox at rest", () => {
  test("has the memory of a paused one, which is not woken", async () => {
    const { world, lifecycle } = await withPaused();
    const before = await lifecycle.get("base");
    await lifecycle.snapshot("base", { name: "kept" });
    expect(await lifecycle.get("base")).toMatchObject({ ...before, updatedAt: expect.any(String) });
    expect(await world.engine.list()).toEqual([]);
    await lifecycle.remove("base", { force: true });
    expect((await lifecycle.create({ snapshot: "kept" })).sandbox).toMatchObject({ state: "running", restored: "memory" });
  });

  test("D01: of a paused one whose checkpoint is damaged fails, and keeps nothing", async () => {
    const { world, lifecycle } = await withPaused();
    const [checkpoint] = await world.checkpoints.list();
    world.checkpoints.corrupt(checkpoint!, "manifest");
    const { operation, sandbox } = await lifecycle.snapshot("base");
    expect(operation).toMatchObject({ status: "failed", error: { code: "checkpoint_corrupt" } });
    expect(sandbox).toMatchObject({ state: "paused" });
    expect(await holdings(world)).toEqual({ disks: 1, checkpoints: 1 });
  });

  test("has the files of a stopped one", async () => {
    const { lifecycle } = await withSandbox();
    await (await lifecycle.guest("base")).files.write("/data/x", one("then"), {});
    await lifecycle.stop("base");
    await expect(lifecycle.snapshot("base")).rejects.toMatchObject({ code: "sandbox_not_running" });
    const { operation } = await lifecycle.snapshot("base", { name: "kept", memory: false });
    expect(operation.result).toMatchObject({ memory: false, checkpointBytes: 0, frozenMs: 0 });
    await lifecycle.create({ snapshot: "kept", name: "again" });
    expect(await (await lifecycle.guest("again")).files.stat("/data/x", {})).toMatchObject({ size: 4 });
  });
});

async function holdings(world: MemoryWorld): Promise<{ disks: number; checkpoints: number }> {
  return { disks: (await world.disks.list()).length, checkpoints: (await world.checkpoints.list()).length };
}
