import { type Prices, type SandboxUsage, type TeamBudget, TorporError } from "@torpor/contract";
import type { TeamRecord } from "../ports/team-store.ts";

type Used = Pick<SandboxUsage, "cpuSeconds" | "memoryGibSeconds" | "storedGibSeconds">;
type Account = NonNullable<TeamRecord["budget"]>;

const monthSeconds = 30 * 24 * 60 * 60;

/** Until some are set. */
export const defaultPrices: Prices = { cpuSecond: 0, memoryGibSecond: 0, storedGibMonth: 0, debtShare: 0.1 };

/** What was used since `before`. */
export function costOf(now: Used, before: Used | undefined, prices: Prices): number {
  const since = (what: keyof Used) => now[what] - (before?.[what] ?? 0);
  const stored = (since("storedGibSeconds") / monthSeconds) * prices.storedGibMonth;
  return since("cpuSeconds") * prices.cpuSecond + since("memoryGibSeconds") * prices.memoryGibSecond + stored;
}

/** The share is of the last top-up: who pays much at a time is trusted with more. */
export function standingOf({ credit, used, lastTopUp }: Account, { debtShare }: Prices): TeamBudget {
  const balance = credit - used;
  return { credit, used, balance, lastTopUp, exhausted: balance < 0 && -balance >= debtShare * lastTopUp.amount };
}

export function toppedUp(account: Account | null, amount: number, at: string): Account {
  return { credit: (account?.credit ?? 0) + amount, used: account?.used ?? 0, lastTopUp: { amount, at } };
}

export function exhausted(team: string, { balance, lastTopUp }: TeamBudget, { debtShare }: Prices): TorporError {
  const debt = -balance;
  return new TorporError(
    "budget_exhausted",
    `team ${team} owes ${round(debt)}, which is ${round(debtShare * 100)} % or more of its last top-up of ${round(lastTopUp.amount)}: nothing of it begins to run`,
    { hint: `torpor team credit ${team} AMOUNT, by the node's owner`, details: { team, balance, lastTopUp: lastTopUp.amount, debtShare } },
  );
}

const round = (number: number): number => Math.round(number * 1e4) / 1e4;
