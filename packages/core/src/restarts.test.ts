import { describe, expect, test } from "vitest";
import type { RuntimeEnd } from "./ports/engine.ts";
import type { Lifecycle } from "./sandboxes.ts";
import { FakeClock, MemoryWorld } from "./testing/index.ts";

const crashed: RuntimeEnd = { reason: "killed", exitCode: null, message: "the engine was killed" };
const shutDown: RuntimeEnd = { reason: "exited", exitCode: 0, message: "shut down" };

describe("a sandbox whose runtime ended by itself", () => {
  test.each([
    ["always", crashed, "running"],
    ["always", shutDown, "running"],
    ["on-failure", crashed, "running"],
    ["on-failure", shutDown, "stopped"],
    ["never", crashed, "failed"],
    [undefined, crashed, "failed"],
  ] as const)("with restart %s and the end %o comes to be %s", async (restart, end, state) => {
    const world = new MemoryWorld();
    const lifecycle = await withSandbox(world, restart);
    await endRuntime(world, lifecycle, end);
    await becomes(lifecycle, state);
    const events = await lifecycle.events("base");
    const restarted = events.filter(({ type }) => type === "sandbox.restarted");
    expect(restarted.map(({ data }) => data)).toEqual(
      state === "running" ? [{ attempt: 1, reason: expect.any(String), generation: 2 }] : [],
    );
    if (state !== "running") return;
    expect((await lifecycle.operations("base"))[0]).toMatchObject({ kind: "start", actor: "recovery", status: "succeeded" });
    expect(await lifecycle.get("base")).toMatchObject({ generation: 2, restored: "files", failure: null });
  });

  test("is started after 1 s, 2 s, 4 s, and after 1 s again when it lived for a minute", async () => {
    const clock = new FakeClock({ auto: false });
    const world = new MemoryWorld({ clock });
    const lifecycle = await withSandbox(world, "always");
    for (const [generation, pauseMs] of [1000, 2000, 4000].entries()) {
      await endRuntime(world, lifecycle, crashed);
      await startsAfter(lifecycle, clock, pauseMs, generation + 2);
    }
    clock.advance(60_000);
    await endRuntime(world, lifecycle, crashed);
    await startsAfter(lifecycle, clock, 1000, 5);
  });

  test("is left alone when somebody stopped it meanwhile", async () => {
    const clock = new FakeClock({ auto: false });
    const world = new MemoryWorld({ clock });
    const lifecycle = await withSandbox(world, "always");
    await endRuntime(world, lifecycle, crashed);
    await becomes(lifecycle, "failed");
    await lifecycle.stop("base");
    clock.advance(60_000);
    await lifecycle.idle();
    expect(await lifecycle.get("base")).toMatchObject({ state: "stopped", generation: 1 });
  });

  test("is started by the next daemon if the first ended meanwhile", async () => {
    const clock = new FakeClock({ auto: false });
    const world = new MemoryWorld({ clock });
    const first = await withSandbox(world, "on-failure");
    await endRuntime(world, first, crashed);
    await becomes(first, "failed");
    const next = new MemoryWorld({ store: world.store });
    Object.assign(next, { engine: world.engine, disks: world.disks, checkpoints: world.checkpoints, images: world.images });
    world.engine.forgetDaemon();
    const lifecycle = next.lifecycle();
    await lifecycle.recover();
    await becomes(lifecycle, "running");
  });
});

async function withSandbox(world: MemoryWorld, restart: "always" | "on-failure" | "never" | undefined): Promise<Lifecycle> {
  const lifecycle = world.lifecycle();
  await lifecycle.create({ image: "debian", name: "base", ...(restart === undefined ? {} : { restart }) });
  return lifecycle;
}

async function endRuntime(world: MemoryWorld, lifecycle: Lifecycle, end: RuntimeEnd): Promise<void> {
  const { runtimeId } = await lifecycle.get("base");
  world.engine.end(runtimeId ?? "", end);
}

async function becomes(lifecycle: Lifecycle, state: string): Promise<void> {
  await expect.poll(async () => (await lifecycle.get("base")).state).toBe(state);
  await lifecycle.idle();
}

async function startsAfter(lifecycle: Lifecycle, clock: FakeClock, pauseMs: number, generation: number): Promise<void> {
  await becomes(lifecycle, "failed");
  // Whoever waits for the pause has begun to.
  await new Promise((resolve) => setTimeout(resolve, 20));
  clock.advance(pauseMs - 1);
  await lifecycle.idle();
  expect((await lifecycle.get("base")).state).toBe("failed");
  clock.advance(1);
  await becomes(lifecycle, "running");
  expect((await lifecycle.get("base")).generation).toBe(generation);
}
