import { type Actor, type ForkRequest, TorporError } from "@torpor/contract";
import { teamOf } from "./access/teams.ts";
import type { Asking } from "./asking.ts";
import { refusedBy, requireRoom } from "./capacity.ts";
import type { Desk } from "./desk.ts";
import { endingOf } from "./ending-of.ts";
import type { KeyFor } from "./idempotency.ts";
import { type Asked, type Decision, decide } from "./lifecycle/decide.ts";
import { askedBy, holdingOf } from "./lifecycle/holding.ts";
import { newOperation } from "./lifecycle/new-operation.ts";
import { busy, nameTaken, notFound, snapshotNameTaken } from "./lifecycle/refusals.ts";
import type { Command } from "./lifecycle/states.ts";
import type { PlannedChild } from "./operations/fork.ts";
import { plan } from "./operations/plan.ts";
import type { Plan } from "./operations/plan-shape.ts";
import { procedureOf } from "./operations/procedures.ts";
import type { Patience } from "./patience.ts";
import type { Ports } from "./ports/ports.ts";
import { type OperationRecord, type SandboxRecord, StoreConflict } from "./ports/store.ts";
import { checkSettings, settingsOf } from "./time/settings.ts";
import { requireCapability } from "./validation.ts";

export interface Ask {
  readonly idOrName: string;
  readonly command: Command;
  readonly request: Readonly<Record<string, unknown>>;
  readonly actor: Actor;
  readonly patience: Patience;
  readonly keyFor: KeyFor;
  /** Looked at with the very record on which the operation would begin: false, and it is refused with `Overtaken`. */
  readonly still?: (sandbox: SandboxRecord) => boolean;
}

/** What was asked for on a condition, which does not hold any more. */
export class Overtaken extends Error {
  override readonly name = "Overtaken";
}

/** What came of one look: an answer, an operation to wait for, or the ground moved. */
type Look = Asking | { readonly waitFor: OperationRecord; readonly sandbox: SandboxRecord } | undefined;

/** Decisions are made again when somebody else changed the records in between; more often than that is a fault. */
const decisionTries = 100;

/** Begins an operation on a sandbox that exists, or joins one, or finds that nothing is to be done; else throws the refusal. */
export async function ask(desk: Desk, asking: Ask): Promise<Asking> {
  const { id } = await lookUp(desk.ports, asking.idOrName);
  if (asking.command === "remove") return look(desk, id, asking, undefined);
  // One looks at it after the other, so that a pause, a resume, a pause end with a pause. A removal overtakes them all.
  const { line } = desk;
  const first = await line.inTurn(id, async () => {
    const found = line.isEmpty(id) ? await askOnce(desk, id, asking) : undefined;
    return found === undefined || "waitFor" in found ? { place: line.enter(id, asking.patience) } : found;
  });
  if (!("place" in first)) return first;
  const leave = await first.place;
  if (leave === undefined) throw await stillBusy(desk.ports, id);
  try {
    return await look(desk, id, asking, asking.patience);
  } finally {
    leave();
  }
}

/** Looks again and again, until there is an answer. */
async function look(desk: Desk, id: string, asking: Ask, patience: Patience | undefined): Promise<Asking> {
  for (let tries = 1; tries <= decisionTries; tries++) {
    const found = await askOnce(desk, id, asking);
    if (found === undefined) continue;
    if (!("waitFor" in found)) return found;
    if (!(await patience?.outlasts(endingOf(desk, found.waitFor)))) throw busy(found.sandbox, found.waitFor);
    tries = 0;
  }
  throw new TorporError("operation_active", `sandbox ${asking.idOrName} is being changed by others all the time: retry`);
}

export async function lookUp(ports: Ports, idOrName: string): Promise<SandboxRecord> {
  const sandbox = await ports.store.findSandbox(idOrName);
  if (sandbox === undefined) throw notFound(idOrName);
  return sandbox;
}

async function stillBusy(ports: Ports, id: string): Promise<TorporError> {
  const sandbox = await lookUp(ports, id);
  const active = sandbox.operationId === null ? undefined : await ports.store.findOperation(sandbox.operationId);
  if (active !== undefined) return busy(sandbox, active);
  return new TorporError("operation_active", `others wait for sandbox ${sandbox.name} too: wait longer or retry`);
}

async function askOnce(desk: Desk, id: string, { command, request, actor, keyFor, still }: Ask): Promise<Look> {
  const { ports, runner } = desk;
  const sandbox = await lookUp(ports, id);
  await requireCapabilityFor(ports, sandbox, command, request);
  const active =
    sandbox.operationId === null || sandbox.damage !== undefined ? undefined : await ports.store.findOperation(sandbox.operationId);
  if (sandbox.operationId !== null && sandbox.damage === undefined && active?.status !== "running") return undefined;
  if (still?.(sandbox) === false) throw new Overtaken(`the ${command} of sandbox ${sandbox.name} is not called for any more`);
  const planned = await plan(ports, sandbox, command, request);
  const { notes } = planned;
  const { phases } = procedureOf({ kind: command, request, notes: { ...notes, prior: sandbox.state } });
  const asked: Asked = { command, request, actor, operationId: ports.ids.next("op"), phase: phases[0]?.name ?? "done", notes };
  const decision = decide(sandbox, active, asked, ports.clock.now());
  switch (decision.type) {
    case "refused":
      throw decision.error;
    case "unchanged":
      return { sandboxId: sandbox.id, operation: await commitUnchanged(ports, sandbox, asked, keyFor), ended: undefined };
    case "join":
      return join(desk, sandbox, decision.operation, keyFor);
    case "wait":
      return { waitFor: decision.operation, sandbox };
    case "supersede":
      runner.cancel(decision.operation.id, "removal");
      await endingOf(desk, decision.operation).catch(onlyRefusals);
      return undefined;
    case "begin":
      return begin(desk, decision, planned, keyFor);
  }
}

/** Of another's operation only its end counts; that nobody is at work on it is a refusal of the call. */
function onlyRefusals(error: unknown): void {
  if (error instanceof TorporError && error.code === "operation_active") throw error;
}

async function join({ ports, runner }: Desk, { id }: SandboxRecord, operation: OperationRecord, keyFor: KeyFor): Promise<Asking> {
  const keys = keyFor(operation.id);
  if (keys.length > 0) await ports.store.commit({ keys });
  return { sandboxId: id, operation, ended: runner.ended(operation.id) };
}

async function begin(
  desk: Desk,
  { sandbox, operation }: Extract<Decision, { type: "begin" }>,
  { notes, uses }: Plan,
  keyFor: KeyFor,
): Promise<Asking | undefined> {
  const { ports, runner } = desk;
  if (operation.kind === "fork") await checkFork(desk, sandbox, operation.request, notes.children as readonly PlannedChild[]);
  if (operation.kind === "snapshot") await checkSnapshotName(ports, String(notes.name));
  const snapshots = uses === undefined ? [] : [uses];
  // Only what is to have a runtime that it had not asks for room.
  const asks = sandbox.state === "resuming";
  if (asks) desk.teams.requireCredit(teamOf(sandbox));
  const within = asks ? { within: ports.node.capacity } : {};
  try {
    await ports.store.commit({ sandboxes: [sandbox], operations: [operation], snapshots, keys: keyFor(operation.id), ...within });
  } catch (error) {
    if (error instanceof StoreConflict && error.kind === "capacity")
      throw refusedBy(error, { ...holdingOf(sandbox), diskBytes: 0, sandboxes: 0 }, ports);
    if (error instanceof StoreConflict && error.kind !== "name" && error.kind !== "key") return undefined;
    throw error;
  }
  const begun = { ...operation, version: 1 };
  return { sandboxId: sandbox.id, operation: begun, ended: runner.run({ ...sandbox, version: sandbox.version + 1 }, begun) };
}

/** A call that had nothing to do succeeded too, and its operation can be read like any other. */
async function commitUnchanged(
  ports: Ports,
  sandbox: SandboxRecord,
  { operationId, command, actor, request }: Asked,
  keyFor: KeyFor,
): Promise<OperationRecord> {
  const at = ports.clock.now().toISOString();
  const operation: OperationRecord = {
    ...newOperation(at, { id: operationId, kind: command, sandboxId: sandbox.id, phase: "done", actor, request, notes: {} }),
    status: "succeeded",
    result: { unchanged: true },
    endedAt: at,
  };
  await ports.store.commit({ operations: [operation], keys: keyFor(operation.id) });
  return { ...operation, version: 1 };
}

/** A snapshot of a running sandbox freezes it, whatever it keeps. */
async function requireCapabilityFor(ports: Ports, { state }: SandboxRecord, command: Command, request: Ask["request"]): Promise<void> {
  if (command === "pause" || command === "resume" || command === "fork") await requireCapability(ports, command);
  if (command === "snapshot" && (state === "running" || request.memory !== false)) await requireCapability(ports, "pause");
}

/** Also of those that are being made; of two at the same instant the store decides at the end. */
async function checkSnapshotName({ store }: Ports, name: string): Promise<void> {
  const making = (await store.runningOperations()).some(({ kind, notes }) => kind === "snapshot" && notes.name === name);
  if (making || (await store.findSnapshot(name)) !== undefined) throw snapshotNameTaken(name);
}

/** What would fail for all of them, or for one after others were made, is refused before anything is frozen. */
async function checkFork(
  { ports, teams }: Desk,
  sandbox: SandboxRecord,
  request: ForkRequest,
  children: readonly PlannedChild[],
): Promise<void> {
  teams.requireCredit(teamOf(sandbox));
  await checkSettings(ports, { ...settingsOf(sandbox), ...settingsOf(request) });
  for (const { name } of children) {
    if ((await ports.store.findSandbox(name)) !== undefined) throw nameTaken(name);
  }
  await requireRoom(ports, teamOf(sandbox), askedBy(children.map(() => sandbox)));
}
