import { expect } from "vitest";
import type { Command } from "../lifecycle/states.ts";
import type { FailpointEntry } from "../operations/failpoints.ts";
import type { Lifecycle } from "../sandboxes.ts";
import { MemoryWorld } from "./memory-world.ts";

export type Variant = FailpointEntry["operation"];

interface Scene {
  readonly before?: (lifecycle: Lifecycle) => Promise<unknown>;
  readonly ask: (lifecycle: Lifecycle, world: MemoryWorld) => Promise<unknown>;
}

/** How each operation of the reference is asked for, and what has to be there before. */
export const scenes: Readonly<Record<Variant, Scene>> = {
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

/** Which of them a command begins, where the two of a command differ: of a running sandbox. */
export function variantOf(command: Command): Variant {
  return command === "fork" || command === "snapshot" ? `${command} of a running one` : command;
}

/** A world in which it can be asked for; its daemon has ended. */
export async function preparedFor(variant: Variant): Promise<MemoryWorld> {
  const world = new MemoryWorld();
  await world.images.import({ path: "/newer.tar", reference: "newer" });
  const lifecycle = world.lifecycle();
  if (variant !== "create") await lifecycle.create({ image: "debian", name: "base" });
  await scenes[variant].before?.(lifecycle);
  world.engine.forgetDaemon();
  return world;
}

async function endRuntime(lifecycle: Lifecycle, world: MemoryWorld): Promise<void> {
  const { runtimeId } = await lifecycle.get("base");
  world.engine.end(runtimeId ?? "", { reason: "killed", exitCode: 137, message: "killed from outside" });
  await expect.poll(async () => (await lifecycle.get("base")).state).toBe("failed");
}
