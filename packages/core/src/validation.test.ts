import { describe, expect, test } from "vitest";
import { MemoryWorld } from "./testing/index.ts";
import { withSandbox } from "./testing/scenes.ts";

describe("what the node or the engine can't do", () => {
  test("pause, resume and fork are refused by the engine's name", async () => {
    const lifecycle = new MemoryWorld({ unsupported: ["pause", "resume", "fork"] }).lifecycle();
    await lifecycle.create({ image: "debian", name: "base" });
    for (const command of ["pause", "resume", "fork"] as const) {
      const refusal = { code: "capability_unsupported", message: expect.stringContaining(`the engine memory can't ${command}`) };
      await expect(lifecycle[command]("base")).rejects.toMatchObject(refusal);
    }
    expect((await lifecycle.stop("base")).sandbox?.state).toBe("stopped");
  });

  test.each([
    [{ memoryBytes: 1024 }, "invalid_request", "at least"],
    [{ memoryBytes: 1024 ** 4 }, "capacity_exceeded", "the node has 8192 MiB"],
    [{ cpus: 64 }, "capacity_exceeded", "the node has 4"],
  ])("resources of %o", async (resources, code, words) => {
    const world = new MemoryWorld();
    await expect(world.lifecycle().create({ image: "debian", resources })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words),
    });
    expect(await world.store.listSandboxes()).toEqual([]);
  });

  test("what there is not", async () => {
    const lifecycle = new MemoryWorld().lifecycle();
    await expect(lifecycle.pause("nobody")).rejects.toMatchObject({ code: "sandbox_not_found", message: "there is no sandbox nobody" });
    await expect(lifecycle.operation("op_none")).rejects.toMatchObject({ code: "operation_not_found" });
    for (const read of [lifecycle.get, lifecycle.operations, lifecycle.events, lifecycle.guest]) {
      await expect(read("nobody")).rejects.toMatchObject({ code: "sandbox_not_found" });
    }
  });

  test("a phase of a newer version stops the recovery, which touches nothing", async () => {
    const { world, lifecycle } = await withSandbox();
    const record = (await world.store.findSandbox("base"))!;
    const [created] = await world.store.listOperations(record.id);
    await world.store.commit({
      operations: [{ ...created!, id: "op_new", version: 0, kind: "pause", status: "running", phase: "upload" }],
    });
    await expect(lifecycle.recover()).rejects.toMatchObject({ message: expect.stringContaining("phase upload") });
    expect(await world.engine.list()).toHaveLength(1);
  });
});
