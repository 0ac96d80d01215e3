import { MemoryWorld } from "@torpor/core/testing";
import { expect, test } from "vitest";
import { keepExpiring } from "./expiry.ts";
import { createLogger } from "./log.ts";

test("snapshots that expired while no daemon was there are removed at the start, others when their time comes; a store that fails is no end", async () => {
  const world = new MemoryWorld();
  const lifecycle = world.lifecycle();
  await lifecycle.create({ image: "debian", name: "base" });
  const keep = (name: string, ms: number) =>
    lifecycle.snapshot("base", { name, expiresAt: new Date(world.clock.now().getTime() + ms).toISOString() });
  await keep("first", 1000);
  await keep("second", 10_000);
  const names = async () => (await lifecycle.snapshots.list()).map(({ name }) => name);
  world.clock.advance(1000);
  const end = keepExpiring(lifecycle, createLogger("silent"), 1);
  await expect.poll(names).toEqual(["second"]);
  const { listSnapshots } = world.store;
  let asked = 0;
  world.store.listSnapshots = async () => {
    asked++;
    throw new Error("the store is away");
  };
  await expect.poll(() => asked).toBeGreaterThan(1);
  world.clock.advance(10_000);
  world.store.listSnapshots = listSnapshots;
  await expect.poll(names).toEqual([]);
  await end();
});
