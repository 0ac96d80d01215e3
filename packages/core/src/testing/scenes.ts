import { TorporError } from "@torpor/contract";
import type { Lifecycle } from "../sandboxes.ts";
import { MemoryWorld } from "./memory-world.ts";

/** What an engine that fails says. */
export const broken = new TorporError("engine_failed", "the engine broke");

export async function withSandbox(): Promise<{ world: MemoryWorld; lifecycle: Lifecycle }> {
  const world = new MemoryWorld();
  const lifecycle = world.lifecycle();
  await lifecycle.create({ image: "debian", name: "base" });
  return { world, lifecycle };
}

export async function withPaused(): Promise<{ world: MemoryWorld; lifecycle: Lifecycle }> {
  const made = await withSandbox();
  await made.lifecycle.pause("base");
  return made;
}

/** Holds an operation at a step. */
export function gateAt(step: string) {
  let reach = (): void => {};
  let open = (): void => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const failpoint = async (name: string): Promise<void> => {
    if (name !== step) return;
    reach();
    await opened;
  };
  return { reached, open: () => open(), failpoint };
}
