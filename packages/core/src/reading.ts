import { type Operation, type OperationAnswer, type Sandbox, TorporError } from "@torpor/contract";
import type { Asking } from "./asking.ts";
import type { Desk } from "./desk.ts";
import { endingOf } from "./ending-of.ts";
import { holdOf } from "./holds.ts";
import { notFound } from "./lifecycle/refusals.ts";
import type { Patience } from "./patience.ts";
import type { Ports } from "./ports/ports.ts";
import type { OperationRecord, SandboxRecord } from "./ports/store.ts";
import { operationView, sandboxView } from "./views.ts";

export interface EventRange {
  readonly after?: number;
  readonly limit?: number;
}

/** The answer of a call: at its operation's end, or when the patience is over. */
export async function answer(desk: Desk, { sandboxId, operation: begun, ended }: Asking, patience: Patience): Promise<OperationAnswer> {
  if (ended !== undefined) await patience.outlasts(ended);
  else if (begun.status === "running") await patience.outlasts(endingOf(desk, begun));
  const siblings = await Promise.all(siblingsOf(begun).map((id) => siblingAnswer(desk, id, patience)));
  const first = await outcome(desk.ports, begun, sandboxId);
  return siblings.length === 0 ? first : { ...first, siblings: siblings.flatMap((sibling) => sibling ?? []) };
}

async function siblingAnswer(desk: Desk, id: string, patience: Patience): Promise<OperationAnswer | undefined> {
  const begun = await desk.ports.store.findOperation(id);
  // History that was forgotten is none.
  if (begun === undefined) return undefined;
  if (begun.status === "running") await patience.outlasts(endingOf(desk, begun));
  return outcome(desk.ports, begun, begun.sandboxId);
}

async function outcome(ports: Ports, begun: OperationRecord, sandboxId: string): Promise<OperationAnswer> {
  const [record, sandbox] = await Promise.all([ports.store.findOperation(begun.id), ports.store.findSandbox(sandboxId)]);
  return { operation: operationView(record ?? begun), sandbox: sandbox === undefined ? null : await view(ports, sandbox) };
}

function siblingsOf({ notes }: OperationRecord): readonly string[] {
  return Array.isArray(notes.siblings) ? (notes.siblings as readonly string[]) : [];
}

export async function view(ports: Ports, sandbox: SandboxRecord): Promise<Sandbox> {
  const active = sandbox.operationId === null ? undefined : await ports.store.findOperation(sandbox.operationId);
  return sandboxView(sandbox, active?.status === "running" ? active : undefined, holdOf(ports, sandbox));
}

export async function operation(ports: Ports, id: string): Promise<Operation> {
  const record = await ports.store.findOperation(id);
  if (record === undefined) throw new TorporError("operation_not_found", `there is no operation ${id}`);
  return operationView(record);
}

/** The operations of a removed sandbox can still be read by its id. */
export async function operations(ports: Ports, idOrName: string): Promise<Operation[]> {
  const sandbox = await ports.store.findSandbox(idOrName);
  const records = await ports.store.listOperations(sandbox?.id ?? idOrName);
  if (sandbox === undefined && records.length === 0) throw notFound(idOrName);
  return records.map(operationView);
}
