import { TorporError } from "@torpor/contract";
import { lookUp } from "./commands.ts";
import type { Desk } from "./desk.ts";
import { endingOf } from "./ending-of.ts";
import { busy, unreadable } from "./lifecycle/refusals.ts";
import type { Patience } from "./patience.ts";
import { type NewEvent, type SandboxRecord, StoreConflict } from "./ports/store.ts";

/** A change of a record that needs no operation, since nothing of the runtime or the disk changes with it. */
export interface Alteration {
  readonly sandbox: Partial<SandboxRecord>;
  readonly events: readonly Pick<NewEvent, "type" | "data">[];
}

/** Decisions are made again when somebody else changed the record in between; more often than that is a fault. */
const tries = 100;

/** An operation at work has the record to itself: its end is waited for. */
export async function alter(
  desk: Desk,
  idOrName: string,
  patience: Patience,
  decide: (sandbox: SandboxRecord, now: Date) => Promise<Alteration>,
): Promise<SandboxRecord> {
  const { ports, endings, activity } = desk;
  for (let left = tries; left > 0; left--) {
    const sandbox = await lookUp(ports, idOrName);
    if (sandbox.damage !== undefined) throw unreadable(sandbox, sandbox.damage.field);
    activity.note(sandbox.id);
    const calledOff = endings.callOff(sandbox.id);
    if (await outlasted(desk, sandbox, calledOff, patience)) continue;
    const now = ports.clock.now();
    const altered = await decide(sandbox, now);
    const next = { ...sandbox, ...altered.sandbox, updatedAt: now.toISOString() };
    const events = altered.events.map((event) => ({ ...event, sandboxId: sandbox.id, operationId: null, at: now.toISOString() }));
    try {
      await ports.store.commit({ sandboxes: [next], events });
      return { ...next, version: sandbox.version + 1 };
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
    }
  }
  throw new TorporError("operation_active", `sandbox ${idOrName} is being changed by others all the time: retry`);
}

/** false: nothing is at work on it. true: something was, and the record has to be read again. */
async function outlasted(desk: Desk, sandbox: SandboxRecord, calledOff: Promise<void> | undefined, patience: Patience): Promise<boolean> {
  if (calledOff === undefined && sandbox.operationId === null) return false;
  const active = sandbox.operationId === null ? undefined : await desk.ports.store.findOperation(sandbox.operationId);
  if (active?.status === "running" && active.kind === "remove") throw busy(sandbox, active);
  const over = calledOff ?? (active?.status === "running" ? endingOf(desk, active) : Promise.resolve());
  if (await patience.outlasts(over)) return true;
  if (active === undefined)
    throw new TorporError("operation_active", `sandbox ${sandbox.name} is about to be paused: wait longer or retry`);
  throw busy(sandbox, active);
}
