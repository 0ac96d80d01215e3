import { describe, expect, test, vi } from "vitest";
import { MemoryWorld } from "../testing/index.ts";
import { broken, withSandbox } from "../testing/scenes.ts";
import { type FailpointEntry, failpoints } from "./failpoints.ts";

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
    await expect(lifecycle.fork("base", { name: "kid", count: 2 })).rejects.toMatchObject({
      code: "name_taken",
      details: { name: "kid-2" },
    });
    await expect(lifecycle.fork("base", { names: ["one", "kid-2"] })).rejects.toMatchObject({
      code: "name_taken",
      details: { name: "kid-2" },
    });
    expect(await lifecycle.operations("base")).toHaveLength(1);
  });

  test("with one name for two children is refused before anything happens", async () => {
    const { lifecycle } = await withSandbox();
    const asked = lifecycle.fork("base", { names: ["one", "two", "one"] });
    await expect(asked).rejects.toMatchObject({ code: "name_taken", message: expect.stringContaining("the name one") });
    expect(await lifecycle.operations("base")).toHaveLength(1);
  });

  test("gives the children what it was told to, over what the source has, and their place", async () => {
    const world = new MemoryWorld();
    const lifecycle = world.lifecycle();
    const settings = { env: { A: "1", B: "1" }, labels: { a: "1", b: "1" } };
    const { sandbox: source } = await lifecycle.create({ image: "debian", name: "base", ...settings });
    const asked = { names: ["one", "two"], env: { B: "2", C: "2" }, labels: { b: "2", c: "2" } };
    const { operation } = await lifecycle.fork("base", asked);
    for (const [at, name] of asked.names.entries()) {
      expect(await lifecycle.get(name)).toMatchObject({
        env: { A: "1", B: "2", C: "2" },
        labels: { a: "1", b: "2", c: "2" },
        parentId: source?.id,
        fork: { at: operation.startedAt, index: at + 1, count: 2 },
      });
    }
    expect(await lifecycle.get("base")).toMatchObject({ ...settings, fork: null });
  });
});

const variants = ["fork of a running one", "fork of one at rest"] as const satisfies readonly FailpointEntry["operation"][];

describe("a fork of a sandbox whose life is bounded", () => {
  test("gives the children its bounds, or those that they were told, from their own beginning on", async () => {
    const { world, lifecycle } = await withSandbox();
    await lifecycle.update("base", { ttlMs: 60_000, hardTtlMs: 600_000, autoResume: true });
    await lifecycle.fork("base", { name: "same" });
    await lifecycle.fork("base", { name: "other", ttlMs: 5000, hardTtlMs: null, onTimeout: "remove" });
    const now = world.clock.now().getTime();
    const same = await lifecycle.get("same");
    expect(same).toMatchObject({ ttlMs: 60_000, hardTtlMs: 600_000, onTimeout: "pause", autoResume: true });
    expect(Date.parse(same.expiresAt ?? "") - now).toBeGreaterThan(50_000);
    expect(await lifecycle.get("other")).toMatchObject({
      ttlMs: 5000,
      hardTtlMs: null,
      hardExpiresAt: null,
      onTimeout: "remove",
      autoResume: true,
    });
    expect(await lifecycle.get("base")).toMatchObject({ ttlMs: 60_000, onTimeout: "pause" });
  });

  test("is refused before anything is frozen when the bounds contradict each other", async () => {
    const { lifecycle } = await withSandbox();
    await lifecycle.update("base", { hardTtlMs: 10_000 });
    await expect(lifecycle.fork("base", { ttlMs: 20_000 })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("over hardTtlMs"),
    });
    expect((await lifecycle.operations("base")).map(({ kind }) => kind)).toEqual(["create"]);
  });
});

describe.each(variants)("A01: a %s asked for again after its daemon was killed", (variant) => {
  const points = failpoints.filter(({ operation, failing }) => operation === variant && !failing).map(({ name }) => name);

  test.each(points)("at %s captures no second time, and has the same children", async (point) => {
    const { world, lifecycle: first } = await withSandbox();
    if (variant === "fork of one at rest") await first.pause("base");
    await first.idle();
    let died = (): void => {};
    const dead = new Promise<void>((resolve) => {
      died = resolve;
    });
    const { lifecycle, kill, quiet } = world.daemon(async (reached) => {
      if (reached !== point) return;
      kill();
      died();
    });
    await lifecycle.recover();
    const ask = (of: typeof lifecycle) => of.fork("base", { name: "kid", count: 2 }, { once: { key: "k", fingerprint: "f" } });
    ask(lifecycle).catch(() => {});
    await dead;
    await quiet();
    const next = world.lifecycle();
    await next.recover();
    const capture = vi.spyOn(world.engine, "capture");
    const clone = vi.spyOn(world.disks, "clone");
    const { operation } = await ask(next);
    expect(operation).toMatchObject({ status: "succeeded", result: { children: [{ name: "kid-1" }, { name: "kid-2" }] } });
    expect([capture.mock.calls, clone.mock.calls]).toEqual([[], []]);
    expect((await next.operations("base")).filter(({ kind }) => kind === "fork")).toHaveLength(1);
    expect((await next.list()).map(({ name }) => name)).toEqual(["base", "kid-1", "kid-2"]);
  });
});
