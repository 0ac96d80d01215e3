import { describe, expect, test } from "vitest";
import { broken, withSandbox } from "../testing/scenes.ts";

describe("a fork", () => {
  test("F06: each child succeeds or fails by itself, and nothing is left of the failed one", async () => {
    const { world, lifecycle } = await withSandbox();
    world.engine.failNext("restore", broken);
    const { operation } = await lifecycle.fork("base", { name: "kid", count: 3 });
    expect(operation.status).toBe("succeeded");
    const children = operation.result.children as { error: { code: string } | null }[];
    expect(children.filter(({ error }) => error === null)).toHaveLength(2);
    expect(children.filter(({ error }) => error?.code === "engine_failed")).toHaveLength(1);
    await lifecycle.idle();
    expect(await world.disks.list()).toHaveLength(3);
    expect(await lifecycle.list()).toHaveLength(3);
  });

  test("of which no child lives has failed; the source goes on", async () => {
    const { world, lifecycle } = await withSandbox();
    world.engine.failNext("restore", broken);
    const { operation, sandbox } = await lifecycle.fork("base");
    expect(operation).toMatchObject({ status: "failed", error: { code: "engine_failed" } });
    expect(sandbox?.state).toBe("running");
  });

  test("that fails before the thaw thaws", async () => {
    const { world, lifecycle } = await withSandbox();
    world.engine.failNext("capture", broken);
    expect((await lifecycle.fork("base")).operation.status).toBe("failed");
    const { runtimeId } = await lifecycle.get("base");
    expect(await world.engine.inspect(runtimeId!)).toEqual({ state: "running" });
    expect(await world.disks.list()).toHaveLength(1);
  });

  test("under a name that is too long with its number is refused", async () => {
    const { lifecycle } = await withSandbox();
    await expect(lifecycle.fork("base", { name: "x".repeat(62), count: 2 })).rejects.toMatchObject({ code: "invalid_name" });
    expect((await lifecycle.fork("base", { name: "x".repeat(62) })).operation.status).toBe("succeeded");
  });

  test("under a name that is taken is refused before anything happens", async () => {
    const { lifecycle } = await withSandbox();
    await lifecycle.create({ image: "debian", name: "kid-2" });
    await expect(lifecycle.fork("base", { name: "kid", count: 2 })).rejects.toMatchObject({ code: "name_taken" });
    expect(await lifecycle.operations("base")).toHaveLength(1);
  });
});
