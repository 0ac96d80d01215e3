import { setImmediate as turn } from "node:timers/promises";
import { MemoryWorld } from "@torpor/core/testing";
import { expect, test } from "vitest";
import { keepForgetting } from "./history.ts";
import { createLogger } from "./log.ts";

test("old history is forgotten at the start, a store that fails is no end, and it ends when told", async () => {
  const world = new MemoryWorld();
  const lifecycle = world.lifecycle();
  await lifecycle.create({ image: "debian", name: "base" });
  for (let count = 0; count < 3; count++) await lifecycle.stop("base");
  const log = createLogger("silent");
  const end = keepForgetting(lifecycle, { maxAgeMs: 1000, perSandbox: 2 }, log);
  await turn();
  await end();
  expect(await lifecycle.operations("base")).toHaveLength(2);
  world.store.prune = async () => Promise.reject(new Error("the store is away"));
  await keepForgetting(lifecycle, { maxAgeMs: 1000, perSandbox: 1 }, log)();
});
