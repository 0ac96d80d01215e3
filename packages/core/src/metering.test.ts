import { expect, test } from "vitest";
import { TimedWorld } from "./testing/timed-world.ts";

const secondMs = 1000;
const used = (timed: TimedWorld) => timed.lifecycle.usage.list().find(({ name }) => name === "base");

test("running time counts with CPUs and memory; a pause and a stop count nothing", async () => {
  const timed = await TimedWorld.open();
  await timed.create({ resources: { cpus: 2, memoryBytes: 2 ** 30 } });
  await timed.pass(100 * secondMs);
  await timed.lifecycle.pause("base");
  await timed.pass(1000 * secondMs);
  expect(used(timed)).toMatchObject({ runningSeconds: 100, cpuSeconds: 200, memoryGibSeconds: 100, removedAt: null });
  await timed.lifecycle.resume("base");
  await timed.pass(50 * secondMs);
  expect(used(timed)).toMatchObject({ runningSeconds: 150, cpuSeconds: 300, memoryGibSeconds: 150 });
});

test("what is stored counts in every state, from one writing to the next", async () => {
  const timed = await TimedWorld.open();
  await timed.create();
  await timed.lifecycle.pause("base");
  await timed.lifecycle.usage.write();
  await timed.pass(3600 * secondMs);
  await timed.lifecycle.usage.write();
  expect(used(timed)?.storedGibSeconds).toBeGreaterThan(0);
});

test("a restart and a kill lose nothing: what ran meanwhile counts, what was paused since the last writing counts until then", async () => {
  const timed = await TimedWorld.open();
  await timed.create();
  await timed.pass(10 * secondMs);
  await timed.lifecycle.usage.write();
  await timed.pass(20 * secondMs);
  await timed.crash();
  expect(used(timed)).toMatchObject({ runningSeconds: 30 });
  await timed.pass(5 * secondMs);
  await timed.lifecycle.usage.write();
  await timed.pass(7 * secondMs);
  await timed.lifecycle.pause("base");
  await timed.pass(100 * secondMs);
  await timed.crash();
  expect(used(timed)).toMatchObject({ runningSeconds: 42 });
});

test("a removed one is told of for 90 days", async () => {
  const timed = await TimedWorld.open();
  await timed.create();
  await timed.pass(10 * secondMs);
  await timed.lifecycle.remove("base", { force: true });
  await timed.pass(100 * secondMs);
  await timed.lifecycle.usage.write();
  expect(used(timed)).toMatchObject({ runningSeconds: 10, removedAt: expect.any(String) });
  await timed.crash();
  expect(used(timed)).toMatchObject({ runningSeconds: 10, removedAt: expect.any(String) });
  await timed.pass(91 * 24 * 3600 * secondMs);
  await timed.lifecycle.usage.write();
  expect(used(timed)).toBeUndefined();
  await timed.crash();
  expect(used(timed)).toBeUndefined();
});
