import { z } from "zod";

const bytes = z.number().int().positive().max(Number.MAX_SAFE_INTEGER).nullable();
const cpus = z.number().positive().max(1_000_000).nullable();
const count = z.number().int().min(0).max(1_000_000).nullable();

/** The most that the sandboxes of a team may hold of the node together; null: as much as the node has. */
export const TeamLimits = z.object({
  memoryBytes: bytes,
  cpus,
  /** The sizes of their disks, as large as they may become. */
  diskBytes: bytes,
  /** All that there are, paused and stopped ones too. */
  sandboxes: count,
});
export type TeamLimits = z.infer<typeof TeamLimits>;

/** What is not named is not limited. */
export const SetTeamLimitsRequest = z.strictObject({
  memoryBytes: bytes.optional(),
  cpus: cpus.optional(),
  diskBytes: bytes.optional(),
  sandboxes: count.optional(),
});
export type SetTeamLimitsRequest = z.infer<typeof SetTeamLimitsRequest>;

const amount = z.number().min(0).max(1e12);

/** What use costs, in whatever unit credit is counted in. */
export const Prices = z.object({
  cpuSecond: amount,
  memoryGibSecond: amount,
  /** A month has 30 days. */
  storedGibMonth: amount,
  /** Sandboxes are paused when a team's debt reaches this share of its last top-up. */
  debtShare: amount,
});
export type Prices = z.infer<typeof Prices>;

export const SetPricesRequest = z.strictObject(Prices.shape);

export const TopUpRequest = z.strictObject({ amount: z.number().positive().max(1e12) });
export type TopUpRequest = z.infer<typeof TopUpRequest>;

/** Prepaid. There is one from the first top-up on, and what was used before costs nothing. */
export const TeamBudget = z.object({
  /** All top-ups together. */
  credit: z.number(),
  /** What use has cost so far, each at the prices of its time. */
  used: z.number(),
  /** `credit` − `used`; negative: a debt. */
  balance: z.number(),
  lastTopUp: z.object({ amount: z.number(), at: z.iso.datetime() }),
  /** Running sandboxes are paused, and none begins to run, until a top-up. */
  exhausted: z.boolean(),
});
export type TeamBudget = z.infer<typeof TeamBudget>;

export const TeamInfo = z.object({
  name: z.string(),
  limits: TeamLimits,
  held: z.object({ memoryBytes: z.number(), cpus: z.number(), diskBytes: z.number(), sandboxes: z.number().int() }),
  /** null: it pays nothing. */
  budget: TeamBudget.nullable(),
});
export type TeamInfo = z.infer<typeof TeamInfo>;

export const TeamList = z.object({ teams: z.array(TeamInfo) });
