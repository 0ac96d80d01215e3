import { beforeEach, expect, test, vi } from "vitest";
import type { Lifecycle } from "./sandboxes.ts";
import { MemoryWorld } from "./testing/memory-world.ts";

let world: MemoryWorld;
let lifecycle: Lifecycle;
beforeEach(async () => {
  world = new MemoryWorld();
  lifecycle = world.lifecycle();
  await lifecycle.create({ image: "debian", name: "base", resources: { cpus: 2 } });
});

test("a running sandbox has memory, processes and a share of a CPU over the time between two looks", async () => {
  expect(await lifecycle.stats("base")).toMatchObject({
    name: "base",
    state: "running",
    memory: { usedBytes: expect.any(Number), limitBytes: 512 * 2 ** 20 },
    cpu: { usedMs: 0, percent: 0, limit: 2 },
    processes: 1,
    checkpointBytes: 0,
    network: { receivedBytes: 0, sentBytes: 0 },
  });
  for (let step = 0; step < 50; step++) world.engine.tick();
  world.clock.advance(1000);
  const { cpu } = await lifecycle.stats("base");
  expect(cpu).toEqual({ usedMs: 500, percent: 50, limit: 2 });
});

test("a paused one uses nothing but disk, and neither it nor the engine is asked", async () => {
  await lifecycle.pause("base");
  const asked = vi.spyOn(world.engine, "stats");
  const stats = await lifecycle.stats("base");
  expect(stats).toMatchObject({ state: "paused", memory: { usedBytes: 0 }, cpu: { usedMs: 0, percent: 0 }, processes: 0, network: null });
  expect(stats.checkpointBytes).toBeGreaterThan(0);
  expect(asked).not.toHaveBeenCalled();
});

test("many who read at once cost one look, and one that ends meanwhile is no error", async () => {
  await lifecycle.create({ image: "debian", name: "other" });
  const asked = vi.spyOn(world.engine, "stats");
  const [first, second] = await Promise.all([lifecycle.allStats(), lifecycle.allStats()]);
  expect(first.sandboxes.map(({ name }) => name)).toEqual(["base", "other"]);
  expect(second).toEqual(first);
  // Two each, since nothing was known before.
  expect(asked).toHaveBeenCalledTimes(4);
  asked.mockRejectedValue(new Error("gone"));
  expect((await lifecycle.allStats()).sandboxes[0]).toMatchObject({ memory: { usedBytes: 0 }, processes: 0 });
});

test("there are no figures of a sandbox that there is not", async () => {
  await expect(lifecycle.stats("nope")).rejects.toMatchObject({ code: "sandbox_not_found" });
});
