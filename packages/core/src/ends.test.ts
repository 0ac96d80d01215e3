import { describe, expect, test } from "vitest";
import type { Lifecycle } from "./sandboxes.ts";
import { MemoryWorld } from "./testing/index.ts";
import { gateAt, withSandbox } from "./testing/scenes.ts";

describe("a runtime that ends by itself", () => {
  test.each([
    [{ reason: "exited", exitCode: 0, message: "done" }, "stopped", null],
    [{ reason: "oom", exitCode: null, message: "the host's memory limit" }, "failed", "the host's memory limit"],
  ] as const)("%o: %s", async (end, state, message) => {
    const { world, lifecycle } = await withSandbox();
    const { runtimeId } = await lifecycle.get("base");
    world.engine.end(runtimeId!, end);
    await settled(lifecycle, "base", state);
    expect(await lifecycle.get("base")).toMatchObject({ state, runtimeId: null, failure: message === null ? null : { message } });
    expect((await lifecycle.events("base")).at(-1)).toMatchObject({ type: "sandbox.ended", data: end });
    expect(await world.engine.list()).toEqual([]);
    await expect(lifecycle.guest("base")).rejects.toMatchObject({ code: "sandbox_not_running" });
  });

  test("just before it is written down as running is not taken for running", async () => {
    const world = new MemoryWorld();
    const gate = gateAt("create.commit");
    const lifecycle = world.lifecycle(gate.failpoint);
    const creating = lifecycle.create({ image: "debian", name: "base" });
    await gate.reached;
    const [runtimeId] = await world.engine.list();
    world.engine.end(runtimeId!, { reason: "killed", exitCode: 137, message: "killed from outside" });
    gate.open();
    await creating;
    await settled(lifecycle, "base", "failed");
    expect(await world.engine.list()).toEqual([]);
  });

  test("while no daemon was there is found by the next", async () => {
    const { world } = await withSandbox();
    const { runtimeId } = await world.lifecycle().get("base");
    world.engine.forgetDaemon();
    await world.engine.destroy(runtimeId!);
    const lifecycle = world.lifecycle();
    expect(await lifecycle.recover()).toMatchObject({ ended: 1, reconnected: 0 });
    expect(await lifecycle.get("base")).toMatchObject({
      state: "stopped",
      failure: { message: expect.stringContaining("nothing of the runtime is left") },
    });
  });
});

async function settled(lifecycle: Lifecycle, name: string, state: string): Promise<void> {
  await expect.poll(async () => (await lifecycle.get(name)).state).toBe(state);
}
