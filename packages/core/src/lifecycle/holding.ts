import type { Share } from "../ports/share.ts";
import type { SandboxRecord } from "../ports/store.ts";
import type { TeamHolding } from "../ports/team-store.ts";

export const nothing: Share = { memoryBytes: 0, cpus: 0, diskBytes: 0 };

/**
 * Memory and CPUs are held from before a runtime is made until it is proved gone, whatever became of its operation; a disk as long as there is a
 * sandbox.
 */
export function holdingOf({ state, runtimeId, resources }: SandboxRecord): Share {
  const { memoryBytes, cpus, diskBytes } = resources;
  const mayRun = runtimeId !== null || state === "creating" || state === "resuming";
  return mayRun ? { memoryBytes, cpus, diskBytes } : { ...nothing, diskBytes };
}

export function plus(a: Share, b: Share): Share {
  return { memoryBytes: a.memoryBytes + b.memoryBytes, cpus: a.cpus + b.cpus, diskBytes: a.diskBytes + b.diskBytes };
}

/** What sandboxes that are to be made ask for together. */
export function askedBy(born: readonly { readonly resources: Share }[]): TeamHolding {
  return { ...born.map(({ resources }) => resources).reduce(plus, nothing), sandboxes: born.length };
}

/** What of it does not fit; undefined: all fits. */
export function lacking(held: Share, capacity: Share): keyof Share | undefined {
  return (["memoryBytes", "cpus", "diskBytes"] as const).find((what) => held[what] > capacity[what] + rounding);
}

/** CPUs are fractions, and sums of fractions are not exact. */
export const rounding = 1e-6;
