import { describe, expect, test } from "vitest";
import type { Images } from "./ports/images.ts";
import { MemoryWorld } from "./testing/index.ts";
import { gateAt, withSandbox } from "./testing/scenes.ts";

describe("an operation that can still be undone is given up", () => {
  test.each([
    ["create", "boot", []],
    ["pause", "capture", ["create"]],
    ["fork", "capture", ["create"]],
    ["resume", "launch", ["create", "pause"]],
    ["start", "launch", ["create", "stop"]],
  ] as const)("%s in phase %s", async (kind, phase, before) => {
    const world = new MemoryWorld();
    const gate = gateAt(`${kind}.${phase}`);
    const lifecycle = world.lifecycle(gate.failpoint);
    const perform = (command: "create" | "pause" | "fork" | "resume" | "start" | "stop") =>
      command === "create" ? lifecycle.create({ image: "debian", name: "base" }) : lifecycle[command]("base");
    for (const command of before) await perform(command);
    const was = before.length === 0 ? undefined : await lifecycle.get("base");
    const begun = perform(kind);
    await gate.reached;
    const active = (await lifecycle.get("base")).operation?.id ?? "";
    expect(await lifecycle.operation(active)).toMatchObject({ kind, status: "running", cancelable: true });
    const cancelling = lifecycle.cancel(active);
    gate.open();
    const error = { code: "operation_cancelled", message: `the ${kind} of sandbox base was given up: its cancellation was asked for` };
    expect(await cancelling).toMatchObject({ operation: { id: active, status: "failed", cancelable: false, error } });
    expect((await begun).operation).toMatchObject({ error });
    if (was === undefined) expect([await lifecycle.list(), await world.engine.list(), await world.disks.list()]).toEqual([[], [], []]);
    else expect(await lifecycle.get("base")).toMatchObject({ state: was.state, generation: was.generation, operation: null });
    expect(world.errors.filter((line) => !line.includes("operation_cancelled"))).toEqual([]);
  });

  test("an image's pull is broken off", async () => {
    const world = new MemoryWorld();
    const pulling = Promise.withResolvers<void>();
    const pull: Images["pull"] = (_request, _progress, signal) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(new Error("the pull was aborted")), { once: true });
        pulling.resolve();
      });
    Object.assign(world.images, { pull });
    const lifecycle = world.lifecycle();
    const creating = lifecycle.create({ image: "far:1", name: "base" });
    await pulling.promise;
    const { operation } = await lifecycle.cancel((await lifecycle.get("base")).operation?.id ?? "");
    expect(operation).toMatchObject({ status: "failed", phase: "image", error: { code: "operation_cancelled" } });
    await creating;
    expect(await lifecycle.list()).toEqual([]);
  });
});

describe("an operation is not given up", () => {
  test.each([
    ["pause", "reclaim"],
    ["stop", "reclaim"],
    ["fork", "children"],
  ] as const)("once it can only go forward: %s in phase %s", async (kind, phase) => {
    const gate = gateAt(`${kind}.${phase}`);
    const lifecycle = new MemoryWorld().lifecycle(gate.failpoint);
    await lifecycle.create({ image: "debian", name: "base" });
    const begun = lifecycle[kind]("base");
    await gate.reached;
    const active = (await lifecycle.get("base")).operation?.id ?? "";
    await expect(lifecycle.cancel(active)).rejects.toMatchObject({
      code: "operation_not_cancelable",
      message: expect.stringContaining("can only go forward"),
      details: { operation: active, kind },
    });
    gate.open();
    expect((await begun).operation.status).toBe("succeeded");
  });

  test("when its commit point comes between the call and its next look", async () => {
    const gate = gateAt("pause.seal.done");
    const lifecycle = new MemoryWorld().lifecycle(gate.failpoint);
    await lifecycle.create({ image: "debian", name: "base" });
    const begun = lifecycle.pause("base");
    await gate.reached;
    const cancelling = lifecycle.cancel((await lifecycle.get("base")).operation?.id ?? "");
    const refused = expect(cancelling).rejects.toMatchObject({
      code: "operation_not_cancelable",
      message: expect.stringContaining("succeeded"),
    });
    await new Promise((resolve) => setImmediate(resolve));
    gate.open();
    await refused;
    expect((await begun).sandbox).toMatchObject({ state: "paused" });
  });

  test("when it has ended, or there is none", async () => {
    const { lifecycle } = await withSandbox();
    const { operation } = await lifecycle.pause("base");
    await expect(lifecycle.cancel(operation.id)).rejects.toMatchObject({
      code: "operation_not_cancelable",
      message: `operation ${operation.id} (pause) has succeeded already`,
    });
    await expect(lifecycle.cancel("op_none")).rejects.toMatchObject({ code: "operation_not_found" });
  });
});
