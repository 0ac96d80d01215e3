import { teamOf } from "../access/teams.ts";
import { type SandboxRecord, StoreConflict } from "../ports/store.ts";
import type { TeamHolding, TeamRecord } from "../ports/team-store.ts";
import { rounding } from "./holding.ts";

/** Refuses what would have a team hold more than it may. `held`: with the change. */
export function checkLimits(team: TeamRecord, changed: readonly SandboxRecord[], held: TeamHolding): void {
  const own = changed.filter((sandbox) => teamOf(sandbox) === team.name);
  if (own.length === 0) return;
  // A limit that was lowered since is no reason to refuse what asks for nothing of the kind: one that is there already takes no other disk.
  const resource = beyond(
    held,
    team,
    own.some(({ version }) => version === 0),
  );
  if (resource !== undefined) {
    throw new StoreConflict("capacity", `team ${team.name} would hold more than it may`, undefined, { team, held, resource });
  }
}

/** What of it is more than the team's limits allow; undefined: nothing. */
export function beyond(held: TeamHolding, { limits }: TeamRecord, born: boolean): keyof TeamHolding | undefined {
  const asked = born ? (["sandboxes", "memoryBytes", "cpus", "diskBytes"] as const) : (["memoryBytes", "cpus"] as const);
  return asked.find((what) => held[what] > (limits[what] ?? Number.POSITIVE_INFINITY) + rounding);
}
