import { describe, expect, test } from "vitest";
import type { Lifecycle } from "./sandboxes.ts";
import { FakeClock, MemoryWorld } from "./testing/index.ts";
import { broken } from "./testing/scenes.ts";

const mib = 2 ** 20;

/** A node with room for two sandboxes of 512 MiB. */
function node(clock?: FakeClock): { world: MemoryWorld; lifecycle: Lifecycle } {
  const world = new MemoryWorld(clock === undefined ? {} : { clock });
  world.capacity = { ...world.capacity, memoryBytes: 1100 * mib };
  return { world, lifecycle: world.lifecycle() };
}

const make = (lifecycle: Lifecycle, name: string, options = {}) => lifecycle.create({ image: "debian", name }, options);

const full = {
  code: "capacity_exceeded",
  message: "not enough memory: 512 MiB asked for, 76 MiB of the node's 1.07 GiB free",
  details: { resource: "memory", asked: 512 * mib, free: 76 * mib, capacity: 1100 * mib },
};

describe("a node that is full", () => {
  test("refuses a create with the numbers, and nothing is changed", async () => {
    const { world, lifecycle } = node();
    await make(lifecycle, "a");
    await make(lifecycle, "b");
    const before = [await lifecycle.list(), await world.disks.list(), await world.engine.list()];
    await expect(make(lifecycle, "c")).rejects.toMatchObject(full);
    expect([await lifecycle.list(), await world.disks.list(), await world.engine.list()]).toEqual(before);
  });

  test("a paused and a stopped one make room, and do not come back without it", async () => {
    const { lifecycle } = node();
    await make(lifecycle, "a");
    await make(lifecycle, "b");
    await lifecycle.pause("a");
    await lifecycle.stop("b");
    await make(lifecycle, "c");
    await make(lifecycle, "d");
    const paused = await lifecycle.get("a");
    await expect(lifecycle.resume("a")).rejects.toMatchObject(full);
    expect(await lifecycle.get("a")).toEqual(paused);
    await expect(lifecycle.start("b")).rejects.toMatchObject(full);
    await lifecycle.remove("c", { force: true });
    expect((await lifecycle.resume("a")).operation).toMatchObject({ status: "succeeded", result: { restored: "memory" } });
  });

  test("refuses a fork before anything is frozen", async () => {
    const { world, lifecycle } = node();
    await make(lifecycle, "a");
    await expect(lifecycle.fork("a", { count: 2 })).rejects.toMatchObject({
      code: "capacity_exceeded",
      message: "not enough memory: 1 GiB asked for, 588 MiB of the node's 1.07 GiB free",
    });
    expect((await lifecycle.operations("a")).map(({ kind }) => kind)).toEqual(["create"]);
    expect((await lifecycle.fork("a")).operation.status).toBe("succeeded");
    expect(await world.engine.list()).toHaveLength(2);
  });

  test("of many at once as many get in as fit", async () => {
    const { world, lifecycle } = node();
    const asked = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => make(lifecycle, `s${index}`)));
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(await world.engine.list()).toHaveLength(2);
  });

  test("counts CPUs and disks too", async () => {
    const world = new MemoryWorld();
    world.capacity = { ...world.capacity, cpus: 1.5, diskBytes: 25 * 2 ** 30 };
    const lifecycle = world.lifecycle();
    await make(lifecycle, "a");
    await expect(make(lifecycle, "b")).rejects.toMatchObject({ message: "not enough CPUs: 1 asked for, 0.5 of the node's 1.5 free" });
    await lifecycle.pause("a");
    await make(lifecycle, "b");
    await lifecycle.pause("b");
    await expect(make(lifecycle, "c")).rejects.toMatchObject({ details: { resource: "disk", free: 5 * 2 ** 30 } });
  });

  test("A06: a sandbox whose start fails again and again holds no memory and no CPU, and starts when its fault is gone", async () => {
    const { world, lifecycle } = node();
    await make(lifecycle, "a");
    await lifecycle.stop("a");
    for (let i = 0; i < 20; i++) {
      world.engine.failNext("boot", broken);
      expect((await lifecycle.start("a")).operation.status).toBe("failed");
    }
    expect((await lifecycle.capacity()).held).toMatchObject({ memoryBytes: 0, cpus: 0 });
    await make(lifecycle, "b");
    await make(lifecycle, "c");
    await lifecycle.pause("b");
    expect((await lifecycle.start("a")).operation.status).toBe("succeeded");
  });

  test("keeps the room of a runtime that is not proved gone", async () => {
    const { world, lifecycle } = node();
    await make(lifecycle, "a");
    await make(lifecycle, "b");
    for (let i = 0; i < 3; i++) world.engine.failNext("destroy", broken);
    expect((await lifecycle.stop("a")).operation.status).toBe("failed");
    expect(await lifecycle.get("a")).toMatchObject({ state: "failed", runtimeId: expect.any(String) });
    await expect(make(lifecycle, "c")).rejects.toMatchObject(full);
    await lifecycle.stop("a");
    await make(lifecycle, "c");
  });
});

describe("who waits for room", () => {
  test("gets in when there is some, in the order of arrival", async () => {
    const { lifecycle } = node(new FakeClock({ auto: false }));
    await make(lifecycle, "a");
    await make(lifecycle, "b");
    const ended: string[] = [];
    const waiting = ["c", "d"].map((name) =>
      make(lifecycle, name, { waitCapacityMs: 60_000 }).then(({ operation }) => ended.push(`${name} ${operation.status}`)),
    );
    await lifecycle.remove("a", { force: true });
    await waiting[0];
    expect(ended).toEqual(["c succeeded"]);
    await lifecycle.pause("b");
    await Promise.all(waiting);
    expect(ended).toEqual(["c succeeded", "d succeeded"]);
  });

  test("is refused with the numbers when the time is over, and nothing is changed", async () => {
    const clock = new FakeClock({ auto: false });
    const { lifecycle } = node(clock);
    await make(lifecycle, "a");
    await make(lifecycle, "b");
    const waiting = make(lifecycle, "c", { waitCapacityMs: 1000 });
    const refused = expect(waiting).rejects.toMatchObject(full);
    let over = false;
    waiting
      .catch(() => {})
      .finally(() => {
        over = true;
      });
    while (!over) {
      clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await refused;
    expect((await lifecycle.list()).map(({ name }) => name)).toEqual(["a", "b"]);
  });

  test("does not wait for what the node never has", async () => {
    const { lifecycle } = node(new FakeClock({ auto: false }));
    const asked = lifecycle.create({ image: "debian", resources: { memoryBytes: 2048 * mib } }, { waitCapacityMs: 60_000 });
    await expect(asked).rejects.toMatchObject({ code: "capacity_exceeded", details: { asked: 2048 * mib, free: 1100 * mib } });
  });
});

describe("a team's limits", () => {
  const mine = { team: "blue" };

  test("are refused with the numbers, in every kind of admission, and nothing is changed", async () => {
    const world = new MemoryWorld();
    const lifecycle = world.lifecycle();
    await lifecycle.teams.setLimits("blue", { memoryBytes: 1100 * mib, sandboxes: 3 });
    await make(lifecycle, "a", mine);
    await make(lifecycle, "b", mine);
    const refused = {
      code: "capacity_exceeded",
      message: "not enough memory: 512 MiB asked for, 76 MiB of the 1.07 GiB that team blue may have free",
      details: { resource: "memory", asked: 512 * mib, free: 76 * mib, capacity: 1100 * mib, team: "blue" },
    };
    const before = [await lifecycle.list(), await world.disks.list(), await world.engine.list()];
    await expect(make(lifecycle, "c", mine)).rejects.toMatchObject(refused);
    await expect(lifecycle.fork("a")).rejects.toMatchObject(refused);
    expect([await lifecycle.list(), await world.disks.list(), await world.engine.list()]).toEqual(before);
    await make(lifecycle, "others");
    await lifecycle.pause("a");
    await make(lifecycle, "c", mine);
    await expect(lifecycle.resume("a")).rejects.toMatchObject(refused);
    await lifecycle.stop("a");
    await expect(lifecycle.start("a")).rejects.toMatchObject(refused);
    await expect(make(lifecycle, "d", mine)).rejects.toMatchObject({ details: { resource: "sandboxes", asked: 1, free: 0, capacity: 3 } });
  });

  test("that were lowered refuse nothing that asks for nothing of it, and are lifted", async () => {
    const lifecycle = new MemoryWorld().lifecycle();
    await make(lifecycle, "a", mine);
    await lifecycle.pause("a");
    await lifecycle.teams.setLimits("blue", { diskBytes: 2 ** 30, sandboxes: 0 });
    expect((await lifecycle.resume("a")).operation.status).toBe("succeeded");
    await expect(make(lifecycle, "b", mine)).rejects.toMatchObject({ details: { resource: "sandboxes", free: 0 } });
    expect((await lifecycle.teams.setLimits("blue", {})).limits).toEqual({
      memoryBytes: null,
      cpus: null,
      diskBytes: null,
      sandboxes: null,
    });
    await make(lifecycle, "b", mine);
    expect(await lifecycle.teams.list("blue")).toMatchObject([{ held: { memoryBytes: 1024 * mib, cpus: 2, sandboxes: 2 } }]);
  });

  test("of many at once as many get in as fit", async () => {
    const lifecycle = new MemoryWorld().lifecycle();
    await lifecycle.teams.setLimits("blue", { cpus: 2 });
    const asked = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => make(lifecycle, `s${index}`, mine)));
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  });

  test("are waited for, in no other team's way", async () => {
    const { lifecycle } = node(new FakeClock({ auto: false }));
    await lifecycle.teams.setLimits("blue", { memoryBytes: 600 * mib });
    await make(lifecycle, "a", mine);
    const waiting = make(lifecycle, "b", { ...mine, waitCapacityMs: 60_000 });
    expect((await make(lifecycle, "others", { waitCapacityMs: 60_000 })).operation.status).toBe("succeeded");
    await lifecycle.remove("others", { force: true });
    expect((await lifecycle.list()).map(({ name }) => name)).toEqual(["a"]);
    await lifecycle.pause("a");
    expect((await waiting).operation.status).toBe("succeeded");
    const more = make(lifecycle, "c", { ...mine, waitCapacityMs: 60_000 });
    await lifecycle.teams.setLimits("blue", {});
    expect((await more).operation.status).toBe("succeeded");
  });
});
