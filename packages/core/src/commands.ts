import { TorporError } from "@torpor/contract";
import { type Asked, decide } from "./lifecycle/decide.ts";
import { nameTaken, notFound } from "./lifecycle/refusals.ts";
import type { Command } from "./lifecycle/states.ts";
import type { PlannedChild } from "./operations/fork.ts";
import { plan } from "./operations/plan.ts";
import { procedureOf } from "./operations/procedures.ts";
import type { Runner } from "./operations/runner.ts";
import type { Ports } from "./ports/ports.ts";
import { type OperationRecord, type SandboxRecord, StoreConflict } from "./ports/store.ts";

export interface Ask {
  readonly idOrName: string;
  readonly command: Command;
  readonly request: Readonly<Record<string, unknown>>;
  readonly actor: string;
}

/** `ended` resolves with the operation's last record; undefined: it has ended, or isn't at work in this process. */
export interface Asking {
  readonly sandboxId: string;
  readonly operation: OperationRecord;
  readonly ended: Promise<OperationRecord> | undefined;
}

/** Decisions are made again when somebody else changed the records in between; more often than that is a fault. */
const decisionTries = 100;

/** Begins an operation on a sandbox that exists, or joins one, or finds that nothing is to be done; else throws the refusal. */
export async function ask(ports: Ports, runner: Runner, asking: Ask): Promise<Asking> {
  const { id } = await lookUp(ports, asking.idOrName);
  for (let tries = 1; tries <= decisionTries; tries++) {
    const answer = await askOnce(ports, runner, { ...asking, idOrName: id });
    if (answer !== undefined) return answer;
  }
  throw new TorporError("operation_active", `sandbox ${asking.idOrName} is being changed by others all the time: retry`);
}

export async function lookUp(ports: Ports, idOrName: string): Promise<SandboxRecord> {
  const sandbox = await ports.store.findSandbox(idOrName);
  if (sandbox === undefined) throw notFound(idOrName);
  return sandbox;
}

/** undefined: the ground moved, decide again. */
async function askOnce(ports: Ports, runner: Runner, { idOrName, command, request, actor }: Ask): Promise<Asking | undefined> {
  const sandbox = await lookUp(ports, idOrName);
  const active = sandbox.operationId === null ? undefined : await ports.store.findOperation(sandbox.operationId);
  if (sandbox.operationId !== null && active?.status !== "running") return undefined;
  const notes = plan(ports, sandbox, command, request);
  const { phases } = procedureOf({ kind: command, request, notes: { ...notes, prior: sandbox.state } });
  const asked: Asked = { command, request, actor, operationId: ports.ids.next("op"), phase: phases[0]?.name ?? "done", notes };
  const decision = decide(sandbox, active, asked, ports.clock.now());
  switch (decision.type) {
    case "refused":
      throw decision.error;
    case "unchanged":
      return { sandboxId: sandbox.id, operation: await commitUnchanged(ports, sandbox, asked), ended: undefined };
    case "join":
      return { sandboxId: sandbox.id, operation: decision.operation, ended: runner.ended(decision.operation.id) };
    case "supersede":
      return supersede(runner, decision.operationId, active);
    case "begin":
      return begin(ports, runner, decision, notes);
  }
}

/** Lets the operation at work give up or end; then the sandbox is looked at again. */
async function supersede(runner: Runner, operationId: string, active: OperationRecord | undefined): Promise<undefined> {
  runner.cancel(operationId);
  const ended = runner.ended(operationId);
  if (ended === undefined && active?.status === "running") {
    throw new TorporError("operation_active", `operation ${operationId} is not at work in this daemon: a restart of the daemon ends it`);
  }
  await ended?.catch(() => {});
}

async function begin(
  ports: Ports,
  runner: Runner,
  { sandbox, operation }: { sandbox: SandboxRecord; operation: OperationRecord },
  notes: Readonly<Record<string, unknown>>,
): Promise<Asking | undefined> {
  if (operation.kind === "fork") await checkChildNames(ports, notes.children as readonly PlannedChild[]);
  try {
    await ports.store.commit({ sandboxes: [sandbox], operations: [operation] });
  } catch (error) {
    if (error instanceof StoreConflict && error.kind !== "name") return undefined;
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
): Promise<OperationRecord> {
  const at = ports.clock.now().toISOString();
  const operation: OperationRecord = {
    id: operationId,
    version: 0,
    kind: command,
    sandboxId: sandbox.id,
    status: "succeeded",
    phase: "done",
    attempt: 1,
    actor,
    error: null,
    result: { unchanged: true },
    startedAt: at,
    endedAt: at,
    request,
    notes: {},
  };
  await ports.store.commit({ operations: [operation] });
  return { ...operation, version: 1 };
}

async function checkChildNames(ports: Ports, children: readonly PlannedChild[]): Promise<void> {
  for (const { name } of children) {
    if ((await ports.store.findSandbox(name)) !== undefined) throw nameTaken(name);
  }
}
