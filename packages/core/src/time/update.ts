import { type RefreshRequest, type TimeSettings, TorporError } from "@torpor/contract";
import { lookUp } from "../commands.ts";
import type { Desk } from "../desk.ts";
import { endingOf } from "../ending-of.ts";
import { busy, notRunning, unreadable } from "../lifecycle/refusals.ts";
import type { Patience } from "../patience.ts";
import { type NewEvent, type SandboxRecord, StoreConflict } from "../ports/store.ts";
import { changedAt, refreshedAt } from "./instants.ts";
import { checkSettings, settingsOf } from "./settings.ts";

interface Alteration {
  readonly sandbox: Partial<SandboxRecord>;
  readonly events: readonly Pick<NewEvent, "type" | "data">[];
}

/** Changes how a sandbox's life is bounded in time. */
export function update(desk: Desk, idOrName: string, request: TimeSettings, patience: Patience): Promise<SandboxRecord> {
  return alter(desk, idOrName, patience, async (sandbox, now) => {
    const changed = settingsOf(request);
    await checkSettings(desk.ports, { ...settingsOf(sandbox), ...changed });
    return { sandbox: changedAt(sandbox, changed, now), events: [{ type: "sandbox.updated", data: changed }] };
  });
}

/** It runs on: a use of the sandbox by somebody who wants nothing of it now. No event: who keeps one alive does so all the time. */
export function refresh(desk: Desk, idOrName: string, { ttlMs }: RefreshRequest, patience: Patience): Promise<SandboxRecord> {
  return alter(desk, idOrName, patience, async (sandbox, now) => {
    if (sandbox.state !== "running") throw notRunning(sandbox);
    const lasts = ttlMs ?? sandbox.ttlMs ?? null;
    if (lasts === null && sandbox.idleMs == null) {
      throw new TorporError("invalid_request", `sandbox ${sandbox.name} has no ttl that could begin anew`, {
        hint: `give one with torpor refresh --ttl, or set it with torpor update --ttl`,
      });
    }
    return { sandbox: refreshedAt(sandbox, lasts, now), events: [] };
  });
}

/** Decisions are made again when somebody else changed the record in between; more often than that is a fault. */
const tries = 100;

/** An operation at work has the record to itself: its end is waited for. */
async function alter(
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
