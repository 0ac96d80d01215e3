import { teamOf } from "../access/teams.ts";
import { holdingOf, lacking, nothing, plus } from "../lifecycle/holding.ts";
import { checkLimits } from "../lifecycle/team-limits.ts";
import type { Share } from "../ports/share.ts";
import { type SandboxRecord, StoreConflict } from "../ports/store.ts";
import type { TeamHolding, TeamRecord } from "../ports/team-store.ts";

export function heldBy(sandboxes: readonly SandboxRecord[]): Share {
  return sandboxes.map(holdingOf).reduce(plus, nothing);
}

export function heldByTeam(sandboxes: readonly SandboxRecord[], team: string): TeamHolding {
  const own = sandboxes.filter((sandbox) => teamOf(sandbox) === team);
  return { ...heldBy(own), sandboxes: own.length };
}

/** `all`: with the change. */
export function checkRoom(
  within: Share,
  teams: readonly TeamRecord[],
  changed: readonly SandboxRecord[],
  all: readonly SandboxRecord[],
): void {
  const held = heldBy(all);
  if (lacking(held, within) !== undefined) throw new StoreConflict("capacity", "the node has not enough", held);
  for (const team of teams) checkLimits(team, changed, heldByTeam(all, team.name));
}
