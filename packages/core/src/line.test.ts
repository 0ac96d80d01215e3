import { describe, expect, test } from "vitest";
import { Line } from "./line.ts";
import { Patience } from "./patience.ts";
import { FakeClock, MemoryWorld } from "./testing/index.ts";
import { gateAt } from "./testing/scenes.ts";

describe("calls that wait for a sandbox", () => {
  test("P03: twenty sandboxes, each a hundred times paused and resumed without waiting: never stuck, running in the end", async () => {
    const lifecycle = new MemoryWorld().lifecycle();
    const names = Array.from({ length: 20 }, (_, index) => `box-${index}`);
    await Promise.all(names.map((name) => lifecycle.create({ image: "debian", name })));
    const calls = names.flatMap((name) => Array.from({ length: 100 }, () => [lifecycle.pause(name), lifecycle.resume(name)]).flat());
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
    for (const sandbox of await lifecycle.list()) {
      expect(sandbox).toMatchObject({ state: "running", operation: null, generation: 101 });
      await expect(lifecycle.guest(sandbox.name)).resolves.toBeDefined();
    }
  });

  test("P03: without a wait each is done or answered with what is going on", async () => {
    const lifecycle = new MemoryWorld().lifecycle();
    await lifecycle.create({ image: "debian", name: "base" });
    const calls = Array.from({ length: 100 }, () => [
      lifecycle.pause("base", {}, { waitMs: 0 }),
      lifecycle.resume("base", {}, { waitMs: 0 }),
    ]);
    const refusals = (await Promise.allSettled(calls.flat())).flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    for (const error of refusals) expect(error).toMatchObject({ code: expect.stringMatching(/^(operation_active|sandbox_not_running)$/) });
    await lifecycle.idle();
    await lifecycle.resume("base");
    expect(await lifecycle.get("base")).toMatchObject({ state: "running", operation: null });
  });

  test("go on in the order in which they came", async () => {
    const gate = gateAt("create.boot");
    const world = new MemoryWorld();
    const lifecycle = world.lifecycle(gate.failpoint);
    void lifecycle.create({ image: "debian", name: "base" });
    await gate.reached;
    const calls = [
      lifecycle.pause("base"),
      lifecycle.resume("base"),
      lifecycle.stop("base"),
      lifecycle.start("base"),
      lifecycle.pause("base"),
    ];
    gate.open();
    await Promise.all(calls);
    const kinds = (await lifecycle.operations("base")).map(({ kind }) => kind);
    expect(kinds.reverse()).toEqual(["create", "pause", "resume", "stop", "start", "pause"]);
  });

  test("a removal overtakes them, and they find nothing", async () => {
    const gate = gateAt("create.boot");
    const lifecycle = new MemoryWorld().lifecycle(gate.failpoint);
    void lifecycle.create({ image: "debian", name: "base" });
    await gate.reached;
    const waiting = Promise.allSettled([lifecycle.pause("base"), lifecycle.resume("base")]);
    const removing = lifecycle.remove("base", { force: true });
    gate.open();
    expect((await removing).operation.status).toBe("succeeded");
    for (const outcome of await waiting) {
      expect(outcome).toMatchObject({
        reason: { code: expect.stringMatching(/^(sandbox_not_found|operation_active|sandbox_not_running|sandbox_not_paused)$/) },
      });
    }
    expect(await lifecycle.list()).toEqual([]);
  });
});

test("who gives up waiting holds up nobody behind", async () => {
  const clock = new FakeClock({ auto: false });
  const line = new Line();
  const leaveFirst = await line.enter("sb", new Patience(clock, undefined));
  const second = line.enter("sb", new Patience(clock, 10));
  const third = line.enter("sb", new Patience(clock, undefined));
  clock.advance(10);
  expect(await second).toBeUndefined();
  leaveFirst?.();
  (await third)?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect(line.isEmpty("sb")).toBe(true);
});
