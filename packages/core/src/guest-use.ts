import { lookUp } from "./commands.ts";
import type { Desk } from "./desk.ts";
import { endingOf } from "./ending-of.ts";
import { crossings } from "./lifecycle/crossings.ts";
import { busy, notRunning, unreadable } from "./lifecycle/refusals.ts";
import { Patience } from "./patience.ts";
import type { Guest } from "./ports/guest.ts";
import type { OperationRecord, SandboxRecord } from "./ports/store.ts";
import type { Waker } from "./time/waking.ts";
import { watchedGuest } from "./time/watched-guest.ts";

/** So long a command or file call waits for a sandbox that is about to run. */
const defaultWaitMs = 30_000;

export interface Using {
  readonly waitMs?: number;
  /** `wake`: a paused sandbox is resumed whether or not it wakes for calls. */
  readonly actor?: Waker;
}

/** What a call does with a sandbox. */
export interface GuestUse extends Pick<Guest, "sessions" | "files" | "ports"> {
  readonly sandboxId: string;
}

/** The line to a running sandbox; to one that is about to run, once it does; to a paused one that wakes for calls, once it is resumed. */
export async function useGuest(desk: Desk, idOrName: string, using: Using = {}): Promise<GuestUse> {
  const { waitMs = defaultWaitMs, actor = "autoResume" } = using;
  const patience = new Patience(desk.ports.clock, waitMs);
  for (;;) {
    const guest = await look(desk, idOrName, patience, actor);
    if (guest !== undefined) return guest;
  }
}

/** undefined: something has changed, and it has to be looked at again. */
async function look(desk: Desk, idOrName: string, patience: Patience, actor: Waker): Promise<GuestUse | undefined> {
  const sandbox = await lookUp(desk.ports, idOrName);
  desk.activity.note(sandbox.id);
  const wakes = actor === "wake" || sandbox.autoResume === true;
  const calledOff = desk.endings.callOff(sandbox.id);
  const active = await activeOf(desk, sandbox);
  if (active === "over") return undefined;
  const ahead = calledOff ?? (active && aheadOf(desk, sandbox, active, wakes));
  if (ahead === undefined && !(wakes && isPaused(sandbox))) return guestOf(desk, sandbox);
  if (ahead === undefined) await desk.waking.wake(sandbox, patience, actor);
  else if (!(await patience.outlasts(ahead))) throw active === undefined ? notRunning(sandbox) : busy(sandbox, active);
  return undefined;
}

/** What has to end before the sandbox can be used, if it is worth waiting for. */
function aheadOf(desk: Desk, sandbox: SandboxRecord, active: OperationRecord, wakes: boolean): Promise<void> | undefined {
  // Whoever may wake it need not come after its pause.
  const crossing = active.kind === "pause" && wakes ? "wait" : crossings[active.kind].use;
  if (crossing === "refuse") throw busy(sandbox, active);
  return crossing === "proceed" ? undefined : endingOf(desk, active);
}

function isPaused({ state, damage }: SandboxRecord): boolean {
  return damage === undefined && state === "paused";
}

/** `over`: it ended after the sandbox was read, which has to be read again. */
async function activeOf({ ports }: Desk, { operationId, damage }: SandboxRecord): Promise<OperationRecord | "over" | undefined> {
  if (operationId === null || damage !== undefined) return undefined;
  const active = await ports.store.findOperation(operationId);
  return active?.status === "running" ? active : "over";
}

async function guestOf({ ports, activity, holds }: Desk, sandbox: SandboxRecord): Promise<GuestUse> {
  const { id, damage, state, runtimeId } = sandbox;
  if (damage !== undefined) throw unreadable(sandbox, damage.field);
  if (state !== "running" || runtimeId === null) throw notRunning(sandbox);
  await holds.settled(runtimeId);
  const guest = await ports.engine.guest(runtimeId);
  return { sandboxId: id, ...watchedGuest(guest, { note: () => activity.note(id), hold: () => activity.hold(id) }) };
}
