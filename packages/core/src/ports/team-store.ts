import type { Prices, TeamBudget, TeamLimits } from "@torpor/contract";
import type { Share } from "./share.ts";

/** What is settled for a team. */
export interface TeamRecord {
  readonly name: string;
  readonly version: number;
  readonly limits: TeamLimits;
  /** `used`: as of the last writing of its sandboxes' meters. */
  readonly budget: Pick<TeamBudget, "credit" | "used" | "lastTopUp"> | null;
}

/** What the sandboxes of a team hold of the node, and how many there are. */
export interface TeamHolding extends Share {
  readonly sandboxes: number;
}

export interface TeamStore {
  /** In the order of their names. */
  listTeams(): Promise<TeamRecord[]>;
  heldByTeam(team: string): Promise<TeamHolding>;
  /** undefined: none were set. */
  prices(): Promise<Prices | undefined>;
}
