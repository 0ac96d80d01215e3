import { lookUp } from "./commands.ts";
import type { Desk } from "./desk.ts";
import { endingOf } from "./ending-of.ts";
import { crossings } from "./lifecycle/crossings.ts";
import { busy, notRunning, unreadable } from "./lifecycle/refusals.ts";
import { Patience } from "./patience.ts";
import type { Guest } from "./ports/guest.ts";
import type { OperationRecord, SandboxRecord } from "./ports/store.ts";

/** So long a command or file call waits for a sandbox that is about to run. */
const defaultWaitMs = 30_000;

/** The line to a running sandbox; to one that is about to run, once it does. */
export async function useGuest(desk: Desk, idOrName: string, waitMs: number = defaultWaitMs): Promise<Guest> {
  const patience = new Patience(desk.ports.clock, waitMs);
  for (;;) {
    const sandbox = await lookUp(desk.ports, idOrName);
    const active = await activeOf(desk, sandbox);
    if (active === "over") continue;
    const crossing = active === undefined ? "proceed" : crossings[active.kind].use;
    if (active === undefined || crossing === "proceed") return guestOf(desk, sandbox);
    if (crossing === "refuse" || !(await patience.outlasts(endingOf(desk, active)))) throw busy(sandbox, active);
  }
}

/** `over`: it ended after the sandbox was read, which has to be read again. */
async function activeOf({ ports }: Desk, { operationId, damage }: SandboxRecord): Promise<OperationRecord | "over" | undefined> {
  if (operationId === null || damage !== undefined) return undefined;
  const active = await ports.store.findOperation(operationId);
  return active?.status === "running" ? active : "over";
}

function guestOf({ ports }: Desk, sandbox: SandboxRecord): Promise<Guest> {
  if (sandbox.damage !== undefined) throw unreadable(sandbox, sandbox.damage.field);
  if (sandbox.state !== "running" || sandbox.runtimeId === null) throw notRunning(sandbox);
  return ports.engine.guest(sandbox.runtimeId);
}
