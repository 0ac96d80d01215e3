import { describe, expect, onTestFinished, test } from "vitest";
import type { Lifecycle } from "../sandboxes.ts";
import { MemoryWorld } from "../testing/index.ts";
import { broken } from "../testing/scenes.ts";
import { checkAgreement } from "../testing/walk.ts";
import { type FailpointEntry, failpoints } from "./failpoints.ts";

/** How each operation of the table is asked for, and what has to be there before. */
const scenes: Record<
  FailpointEntry["operation"],
  { before?: (lifecycle: Lifecycle) => Promise<unknown>; ask: (lifecycle: Lifecycle, world: MemoryWorld) => Promise<unknown> }
> = {
  create: { ask: (lifecycle) => lifecycle.create({ image: "python:3.12", name: "base" }) },
  pause: { ask: (lifecycle) => lifecycle.pause("base") },
  "pause, files only": { ask: (lifecycle) => lifecycle.pause("base", { memory: false }) },
  resume: { before: (lifecycle) => lifecycle.pause("base"), ask: (lifecycle) => lifecycle.resume("base", { memory: "require" }) },
  "fork of a running one": { ask: (lifecycle) => lifecycle.fork("base", { count: 2 }) },
  "fork of one at rest": { before: (lifecycle) => lifecycle.pause("base"), ask: (lifecycle) => lifecycle.fork("base", { count: 2 }) },
  stop: { ask: (lifecycle) => lifecycle.stop("base") },
  "stop after its runtime ended": { ask: endRuntime },
  start: { before: (lifecycle) => lifecycle.stop("base"), ask: (lifecycle) => lifecycle.start("base") },
  remove: { ask: (lifecycle) => lifecycle.remove("base", { force: true }) },
  "snapshot of a running one": { ask: (lifecycle) => lifecycle.snapshot("base") },
  "snapshot of one at rest": { before: (lifecycle) => lifecycle.pause("base"), ask: (lifecycle) => lifecycle.snapshot("base") },
  restore: {
    before: async (lifecycle) => {
      await lifecycle.snapshot("base", { name: "kept" });
      await lifecycle.pause("base");
    },
    ask: (lifecycle) => lifecycle.restore("base", { snapshot: "kept" }),
  },
  rebase: { before: (lifecycle) => lifecycle.stop("base"), ask: (lifecycle) => lifecycle.rebase("base", { image: "newer" }) },
};
const operations = Object.keys(scenes) as FailpointEntry["operation"][];

describe("the table of failpoints", () => {
  test.each(operations)("has exactly those that %s passes, in their order", async (operation) => {
    const world = await prepared(operation);
    const passed: string[] = [];
    await ask(world, operation, async (name) => void passed.push(name));
    expect(ofKind(operation, passed)).toEqual(names(operation, false));
  });

  test.each(operations)("has exactly those that %s passes when it fails", async (operation) => {
    const world = await prepared(operation);
    const passed: string[] = [];
    await ask(world, operation, failFirst(operation, passed));
    const [first, ...undoing] = ofKind(operation, passed);
    expect(first).toBe(names(operation, false)[0]);
    expect(undoing).toEqual([...names(operation, true), expect.stringMatching(/\.ended$/)]);
  });

  test.each(failpoints)(
    "says what becomes of a $operation whose daemon is killed at $name",
    async ({ operation, name, failing, allowed }) => {
      const world = await prepared(operation);
      let armed = false;
      const { lifecycle, kill, quiet } = world.daemon(async (reached) => {
        if (!armed) return;
        if (failing && reached === names(operation, false)[0]) throw broken;
        if (reached === name) {
          kill();
          died();
        }
      });
      let died = (): void => {};
      const dead = new Promise<void>((resolve) => {
        died = resolve;
      });
      await lifecycle.recover();
      armed = true;
      scenes[operation].ask(lifecycle, world).catch(() => {});
      await dead;
      await quiet();
      await checkAgreement(world, new Map());
      const sandbox = await world.store.findSandbox("base");
      expect(allowed).toContain(sandbox?.state ?? "absent");
    },
  );
});

async function prepared(operation: FailpointEntry["operation"]): Promise<MemoryWorld> {
  const world = new MemoryWorld();
  await world.images.import({ path: "/newer.tar", reference: "newer" });
  const lifecycle = world.lifecycle();
  if (operation !== "create") await lifecycle.create({ image: "debian", name: "base" });
  await scenes[operation].before?.(lifecycle);
  world.engine.forgetDaemon();
  return world;
}

/** Until it has ended, whatever it is. */
async function ask(world: MemoryWorld, operation: FailpointEntry["operation"], failpoint: (name: string) => Promise<void>): Promise<void> {
  const lifecycle = world.lifecycle(failpoint);
  onTestFinished(() => lifecycle.idle());
  await lifecycle.recover();
  await scenes[operation].ask(lifecycle, world).catch(() => {});
  await lifecycle.idle();
}

function failFirst(operation: FailpointEntry["operation"], passed: string[]): (name: string) => Promise<void> {
  return async (name) => {
    passed.push(name);
    if (name === names(operation, false)[0] && passed.filter((each) => each === name).length === 1) throw broken;
  };
}

function names(operation: FailpointEntry["operation"], failing: boolean): string[] {
  return failpoints.filter((point) => point.operation === operation && point.failing === failing).map(({ name }) => name);
}

/** A fork passes those of its children's creates too. */
function ofKind(operation: FailpointEntry["operation"], passed: readonly string[]): string[] {
  const [kind = ""] = (names(operation, false)[0] ?? "").split(".");
  return passed.filter((name) => name.startsWith(`${kind}.`));
}

async function endRuntime(lifecycle: Lifecycle, world: MemoryWorld): Promise<void> {
  const { runtimeId } = await lifecycle.get("base");
  world.engine.end(runtimeId ?? "", { reason: "killed", exitCode: 137, message: "killed from outside" });
  await expect.poll(async () => (await lifecycle.get("base")).state).toBe("failed");
}
