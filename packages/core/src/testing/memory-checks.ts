import { holdingOf, lacking, nothing, plus } from "../lifecycle/holding.ts";
import type { Share } from "../ports/share.ts";
import { type SandboxRecord, StoreConflict } from "../ports/store.ts";

export function heldBy(sandboxes: readonly SandboxRecord[]): Share {
  return sandboxes.map(holdingOf).reduce(plus, nothing);
}

export function checkWithin(within: Share, sandboxes: readonly SandboxRecord[]): void {
  const held = heldBy(sandboxes);
  if (lacking(held, within) !== undefined) throw new StoreConflict("capacity", "the node has not enough", held);
}
