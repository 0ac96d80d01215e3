import { describe, expect, test } from "vitest";
import { gateAt, withSandbox } from "./testing/scenes.ts";
import { killedRecovery } from "./testing/walk.ts";

const hour = 60 * 60 * 1000;

async function withKept() {
  const made = await withSandbox();
  await made.lifecycle.snapshot("base", { name: "kept" });
  return made;
}

describe("a snapshot's record", () => {
  test("labels are merged, taken away, and kept with everything else", async () => {
    const { lifecycle } = await withKept();
    await lifecycle.snapshots.update("kept", { labels: { a: "1", b: "2" } });
    const changed = await lifecycle.snapshots.update("kept", { labels: { a: null, c: "3" }, pinned: true });
    expect(changed).toMatchObject({ labels: { b: "2", c: "3" }, pinned: true });
    expect(await lifecycle.snapshots.get("kept")).toEqual(changed);
    expect(await lifecycle.snapshots.list()).toEqual([changed]);
  });

  test("many changes at once are all made", async () => {
    const { lifecycle } = await withKept();
    await Promise.all(Array.from({ length: 20 }, (_, index) => lifecycle.snapshots.update("kept", { labels: { [`l${index}`]: "x" } })));
    expect(Object.keys((await lifecycle.snapshots.get("kept")).labels)).toHaveLength(20);
  });

  test("there is none: refused", async () => {
    const { lifecycle } = await withSandbox();
    const refused = { code: "snapshot_not_found" };
    await expect(lifecycle.snapshots.get("nope")).rejects.toMatchObject(refused);
    await expect(lifecycle.snapshots.update("nope", {})).rejects.toMatchObject(refused);
    await expect(lifecycle.snapshots.remove("nope")).rejects.toMatchObject(refused);
  });

  test("a pinned one is not removed", async () => {
    const { lifecycle } = await withKept();
    await lifecycle.snapshots.update("kept", { pinned: true });
    await expect(lifecycle.snapshots.remove("kept")).rejects.toMatchObject({ code: "snapshot_pinned" });
    await expect(lifecycle.snapshots.remove("kept", { force: true })).rejects.toMatchObject({ code: "snapshot_pinned" });
    await lifecycle.snapshots.update("kept", { pinned: false });
    await lifecycle.snapshots.remove("kept");
    expect(await lifecycle.snapshots.list()).toEqual([]);
  });

  test.each([
    ["create.boot", "made from"],
    ["restore.copy", "restored to"],
  ])("one that a sandbox is at %s with is in use, and can be removed afterwards", async (step) => {
    const { world } = await withKept();
    const gate = gateAt(step);
    const lifecycle = world.lifecycle(gate.failpoint);
    await lifecycle.stop("base");
    const using =
      step === "create.boot" ? lifecycle.create({ snapshot: "kept", name: "kid" }) : lifecycle.restore("base", { snapshot: "kept" });
    await gate.reached;
    await expect(lifecycle.snapshots.remove("kept")).rejects.toMatchObject({ code: "snapshot_in_use" });
    gate.open();
    expect((await using).operation.status).toBe("succeeded");
    await lifecycle.snapshots.remove("kept");
    await lifecycle.idle();
    expect((await world.disks.list()).length).toBe((await lifecycle.list()).length);
  });

  test("a removal and twenty creates at once: each create has its sandbox, or there was no snapshot any more", async () => {
    const { world, lifecycle } = await withKept();
    const creates = Array.from({ length: 20 }, () => lifecycle.create({ snapshot: "kept" }));
    const removal = lifecycle.snapshots.remove("kept").catch((error: { code: string }) => error.code);
    for (const outcome of await Promise.allSettled(creates)) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "snapshot_not_found" });
      else expect(outcome.value.operation.status).toBe("succeeded");
    }
    expect(["snapshot_in_use", expect.objectContaining({ name: "kept" })]).toContainEqual(await removal);
    await lifecycle.idle();
    expect(await world.disks.list()).toHaveLength((await lifecycle.list()).length + (await lifecycle.snapshots.list()).length);
  });
});

describe("the expiry of snapshots", () => {
  test("removes those whose time has come, but for pinned ones, and says so", async () => {
    const { world, lifecycle } = await withSandbox();
    const at = (ms: number) => new Date(world.clock.now().getTime() + ms).toISOString();
    await lifecycle.snapshot("base", { name: "soon", expiresAt: at(hour) });
    await lifecycle.snapshot("base", { name: "pinned", expiresAt: at(hour), pinned: true });
    await lifecycle.snapshot("base", { name: "later", expiresAt: at(3 * hour) });
    await lifecycle.snapshot("base", { name: "never" });
    const names = async () => (await lifecycle.snapshots.list()).map(({ name }) => name);
    expect(await lifecycle.snapshots.expire()).toBe(0);
    world.clock.advance(hour);
    expect(await lifecycle.snapshots.expire()).toBe(1);
    expect(await names()).toEqual(["pinned", "later", "never"]);
    expect((await lifecycle.events("base")).at(-1)).toMatchObject({ type: "snapshot.expired", data: { snapshot: { name: "soon" } } });
    await lifecycle.snapshots.update("pinned", { pinned: false });
    await lifecycle.snapshots.update("later", { expiresAt: null });
    world.clock.advance(24 * hour);
    expect(await lifecycle.snapshots.expire()).toBe(1);
    expect(await names()).toEqual(["later", "never"]);
    expect(await world.disks.list()).toHaveLength(3);
  });

  test("waits for who uses one", async () => {
    const { world } = await withKept();
    const gate = gateAt("create.boot");
    const lifecycle = world.lifecycle(gate.failpoint);
    await lifecycle.snapshots.update("kept", { expiresAt: new Date(world.clock.now().getTime() + hour).toISOString() });
    const using = lifecycle.create({ snapshot: "kept" });
    await gate.reached;
    world.clock.advance(hour);
    expect(await lifecycle.snapshots.expire()).toBe(0);
    gate.open();
    await using;
    expect(await lifecycle.snapshots.expire()).toBe(1);
  });

  test("a time in the past is refused", async () => {
    const { world, lifecycle } = await withKept();
    await expect(lifecycle.snapshots.update("kept", { expiresAt: world.clock.now().toISOString() })).rejects.toMatchObject({
      code: "invalid_request",
    });
  });
});

test("images that only a snapshot needs are in use", async () => {
  const { world, lifecycle } = await withKept();
  const { image } = await lifecycle.get("base");
  await lifecycle.remove("base", { force: true });
  expect((await world.images.prune(await lifecycle.imagesInUse())).removed).toEqual([]);
  await expect(world.images.remove("debian", await lifecycle.imagesInUse())).rejects.toMatchObject({ code: "image_in_use" });
  await lifecycle.snapshots.remove("kept");
  expect((await world.images.prune(await lifecycle.imagesInUse())).removed).toEqual([image.digest]);
});

test("a daemon that is killed in the middle of a removal leaves nothing behind for long", async () => {
  const { world } = await withKept();
  // The record is gone, what it held is not.
  const kept = await world.store.findSnapshot("kept");
  await world.store.commit({ removedSnapshots: [kept!] });
  world.engine.forgetDaemon();
  await killedRecovery(world, 0);
  await world.lifecycle().recover();
  expect(await world.disks.list()).toHaveLength(1);
  expect(await world.checkpoints.list()).toEqual([]);
});

test("what snapshots hold survives the sweep of a start", async () => {
  const { world, lifecycle } = await withKept();
  await lifecycle.snapshot("base", { name: "files", memory: false });
  await lifecycle.remove("base", { force: true });
  world.engine.forgetDaemon();
  expect(await world.lifecycle().recover()).toMatchObject({ swept: 0 });
  expect((await world.lifecycle().create({ snapshot: "kept" })).sandbox).toMatchObject({ restored: "memory" });
});
