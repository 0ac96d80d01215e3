import { type SelfVerb, TorporError } from "@torpor/contract";
import { describe, expect, test } from "vitest";
import { FakeClock, MemoryWorld } from "./testing/index.ts";
import { gateAt } from "./testing/scenes.ts";

async function withGranted(selfControl?: SelfVerb[], failpoint?: (name: string) => Promise<void>) {
  const world = new MemoryWorld({ clock: new FakeClock({ auto: false }) });
  const lifecycle = world.lifecycle(failpoint);
  const { sandbox } = await lifecycle.create({ image: "debian", name: "base", ...(selfControl === undefined ? {} : { selfControl }) });
  const ask = (verb: string, options = "{}", id = "R1") => world.engine.ask(sandbox?.id ?? "", { id, verb, options });
  return { world, lifecycle, ask };
}

describe("what a process asks for its sandbox", () => {
  test("is done when it is granted", async () => {
    const { lifecycle, ask } = await withGranted(["pause", "fork"]);
    expect(await ask("fork", '{"count":2,"name":"kid"}')).toMatchObject({ result: { children: [{ name: "kid-1" }, { name: "kid-2" }] } });
    expect(await lifecycle.get("kid-2")).toMatchObject({ selfControl: ["pause", "fork"], fork: { index: 2, count: 2 } });
    expect(await ask("pause", "", "R2")).toMatchObject({ result: { memory: true } });
    expect(await lifecycle.get("base")).toMatchObject({ state: "paused" });
    expect((await lifecycle.operations("base"))[0]).toMatchObject({ kind: "pause", actor: "self" });
  });

  test("a pause with an end wakes by itself, and has one wake, however often it was told of", async () => {
    const { lifecycle, ask } = await withGranted(["pause"]);
    expect(await ask("pause", '{"wakeAfterMs":3600000}')).toMatchObject({ result: { memory: true } });
    expect(await ask("pause", '{"wakeAfterMs":3600000}')).toMatchObject({ result: { memory: true } });
    expect((await lifecycle.listWakes("base")).wakes).toMatchObject([{ kind: "at", label: expect.stringContaining("R1") }]);
    expect((await lifecycle.operations("base")).map(({ kind }) => kind)).toEqual(["pause", "create"]);
  });

  test("a pause that fails leaves no wake", async () => {
    const { world, lifecycle, ask } = await withGranted(["pause"]);
    world.engine.failNext("capture", new TorporError("storage_failed", "broke"));
    expect(await ask("pause", '{"wakeAfterMs":3600000}')).toMatchObject({ error: { code: "storage_failed" } });
    expect((await lifecycle.listWakes("base")).wakes).toEqual([]);
  });

  test("a snapshot and an address are made once", async () => {
    const { lifecycle, ask } = await withGranted(["snapshot", "wake"]);
    expect(await ask("snapshot", '{"name":"point"}')).toMatchObject({ result: { snapshot: { name: "point" } } });
    expect(await ask("snapshot", '{"name":"point"}')).toMatchObject({ result: { snapshot: { name: "point" } } });
    expect(await lifecycle.snapshots.list()).toHaveLength(1);
    const first = await ask("wake", "{}", "R2");
    expect(first).toMatchObject({ result: { path: expect.stringMatching(/^\/v1\/wake\/\S{20,}$/) } });
    // The first answer was lost: its address was told to nobody.
    expect(await ask("wake", "{}", "R2")).not.toEqual(first);
    expect((await lifecycle.listWakes("base")).wakes).toHaveLength(1);
  });

  test.each([
    ["pause", undefined],
    ["fork", ["pause"] as "pause"[]],
  ])("is refused when it is not: %s of %j", async (verb, granted) => {
    const { lifecycle, ask } = await withGranted(granted);
    expect(await ask(verb)).toMatchObject({ error: { code: "self_control_denied", hint: expect.stringContaining(verb) } });
    expect(await lifecycle.operations("base")).toHaveLength(1);
  });

  test.each([
    ["remove", "{}", "R1"],
    ["constructor", "{}", "R1"],
    ["fork", '{"count":101}', "R1"],
    ["fork", '{"count":2,"extra":1}', "R1"],
    ["fork", '{"name":"UP"}', "R1"],
    ["fork", "[", "R1"],
    ["pause", "null", "R1"],
    ["pause", "{}", "no id"],
  ])("is refused when it is nonsense: %s %s", async (verb, options, id) => {
    const { lifecycle, ask } = await withGranted(["pause", "fork"]);
    expect(await ask(verb, options, id)).toMatchObject({ error: { code: "invalid_request" } });
    expect(await lifecycle.operations("base")).toHaveLength(1);
  });

  test("tells of an operation that failed, and of one that was refused", async () => {
    const { world, lifecycle, ask } = await withGranted(["pause", "fork"]);
    world.engine.failNext("capture", new TorporError("storage_failed", "/srv/pool broke"));
    expect(await ask("pause")).toEqual({
      error: { code: "storage_failed", message: "the pause failed: who runs this sandbox is told why" },
    });
    expect(await lifecycle.get("base")).toMatchObject({ state: "running" });
    await lifecycle.create({ image: "debian", name: "taken" });
    expect(await ask("fork", '{"name":"taken"}', "R2")).toMatchObject({ error: { code: "name_taken" } });
  });

  test("asked again after the daemon was killed, has the outcome of the first time", async () => {
    const world = new MemoryWorld();
    const gate = gateAt("fork.thaw");
    const { lifecycle, kill, quiet } = world.daemon(gate.failpoint);
    const { sandbox } = await lifecycle.create({ image: "debian", name: "base", selfControl: ["fork"] });
    const request = { id: "R1", verb: "fork", options: '{"count":2}' };
    void world.engine.ask(sandbox?.id ?? "", request);
    await gate.reached;
    kill();
    gate.open();
    await quiet();
    const next = world.lifecycle();
    const recovering = next.recover();
    // Told of while the recovery is at work: it waits for its end.
    const again = await world.engine.ask(sandbox?.id ?? "", request);
    await recovering;
    expect(again).toMatchObject({ result: { children: [{ error: null }, { error: null }] } });
    expect((await next.operations("base")).map(({ kind, status }) => `${kind} ${status}`)).toEqual(["fork succeeded", "create succeeded"]);
    expect(await next.list()).toHaveLength(3);
  });
});
