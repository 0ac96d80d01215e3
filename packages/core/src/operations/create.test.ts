import { describe, expect, test } from "vitest";
import { MemoryWorld } from "../testing/index.ts";
import { broken } from "../testing/scenes.ts";

describe("a create that fails", () => {
  test.each(["boot", "guest"] as const)("in %s leaves nothing but its operation", async (call) => {
    const world = new MemoryWorld();
    const lifecycle = world.lifecycle();
    world.engine.failNext(call, broken);
    const { operation, sandbox } = await lifecycle.create({ image: "debian", name: "base" });
    expect(operation).toMatchObject({ status: "failed", error: { code: "engine_failed" } });
    expect(sandbox).toBeNull();
    expect(await lifecycle.operation(operation.id)).toMatchObject({ status: "failed" });
    expect([await lifecycle.list(), await world.engine.list(), await world.disks.list()]).toEqual([[], [], []]);
    expect((await lifecycle.create({ image: "debian", name: "base" })).operation.status).toBe("succeeded");
  });

  test("since its runtime ended before it could answer, says what it ended of", async () => {
    const world = new MemoryWorld();
    const { engine } = world;
    const guest = engine.guest.bind(engine);
    engine.guest = async (runtimeId) => {
      const line = await guest(runtimeId);
      engine.end(runtimeId, { reason: "killed", exitCode: null, message: "the engine was killed" });
      return line;
    };
    const lifecycle = world.lifecycle();
    const { operation } = await lifecycle.create({ image: "debian", name: "base" });
    expect(operation.error).toMatchObject({ code: "engine_failed", message: expect.stringContaining("the engine was killed") });
    expect([await lifecycle.list(), await world.engine.list(), await world.disks.list()]).toEqual([[], [], []]);
  });

  test("for want of the image, says which", async () => {
    const world = new MemoryWorld();
    const { operation } = await world.lifecycle().create({ image: "nope:1" });
    expect(operation.error).toMatchObject({ code: "image_not_found", message: expect.stringContaining("nope:1") });
    await expect(world.lifecycle().create({ image: "python:3.12", pull: false })).rejects.toMatchObject({ code: "image_not_found" });
  });
});
