import { type TeamBudget, TorporError } from "@torpor/contract";
import { teamOf } from "../access/teams.ts";
import { ask, Overtaken } from "../commands.ts";
import type { Desk } from "../desk.ts";
import { describeError } from "../failure.ts";
import { Patience } from "../patience.ts";
import type { SandboxRecord } from "../ports/store.ts";

/** Pauses what runs of teams that owe too much, files only. Resolves when all of it is done; what is busy or fails is left for the next time. */
export async function pauseForBudgets(desk: Desk): Promise<void> {
  const teams = desk.teams.exhausted();
  if (teams.size === 0) return;
  const sandboxes = await desk.ports.store.listSandboxes();
  await Promise.all(
    sandboxes.map(async (sandbox) => {
      const budget = teams.get(teamOf(sandbox));
      if (budget !== undefined && sandbox.state === "running" && sandbox.operationId === null) await pause(desk, sandbox, budget);
    }),
  );
}

/** Where the engine can't pause it is stopped: it costs as little. */
async function pause(desk: Desk, { id, team }: SandboxRecord, { balance, lastTopUp }: TeamBudget): Promise<void> {
  const budget = { balance, lastTopUp: lastTopUp.amount };
  try {
    await end(desk, id, "pause", { memory: false, budget }).catch((error: unknown) => {
      if (!(error instanceof TorporError) || error.code !== "capability_unsupported") throw error;
      return end(desk, id, "stop", { budget });
    });
  } catch (error) {
    if (error instanceof Overtaken) return;
    desk.ports.log.error("a sandbox whose team owes too much could not be paused", { sandbox: id, team, cause: describeError(error) });
  }
}

async function end(desk: Desk, id: string, command: "pause" | "stop", request: Readonly<Record<string, unknown>>): Promise<void> {
  const patience = new Patience(desk.ports.clock, 0);
  // A top-up may come before its turn.
  const still = (present: SandboxRecord) => present.state === "running" && desk.teams.exhausted().has(teamOf(present));
  const { ended } = await ask(desk, { idOrName: id, command, request, actor: "budget", patience, keyFor: () => [], still });
  await ended;
}
