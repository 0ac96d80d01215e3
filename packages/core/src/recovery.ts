import { TorporError } from "@torpor/contract";
import { settleIfEnded } from "./ends.ts";
import { describeError } from "./failure.ts";
import { procedureOf } from "./operations/procedures.ts";
import type { Runner } from "./operations/runner.ts";
import { greetRunning } from "./operations/runtime.ts";
import type { Ports } from "./ports/ports.ts";
import type { OperationRecord, SandboxRecord } from "./ports/store.ts";

export interface Recovery {
  /** Operations that were finished or undone. */
  readonly operations: number;
  /** Running sandboxes that were found running, and those that were not. */
  readonly reconnected: number;
  readonly ended: number;
  /** Runtimes, disks and checkpoints that nothing referred to. */
  readonly swept: number;
}

/** So many sandboxes are dealt with at a time. */
const atOnce = 8;

/** After it records and host agree. It fails, having touched nothing, if a newer Torpor left phases that are unknown here. */
export async function recover(ports: Ports, runner: Runner): Promise<Recovery> {
  const pending = await ports.store.runningOperations();
  for (const operation of pending) refuseUnknown(operation);
  // A fork looks at what became of the children that it had begun, so those come to their end first.
  await inTurns(
    pending.filter(({ kind }) => kind !== "fork"),
    (operation) => finish(ports, runner, operation),
  );
  await inTurns(
    pending.filter(({ kind }) => kind === "fork"),
    (operation) => finish(ports, runner, operation),
  );
  await runner.idle();
  const running = (await ports.store.listSandboxes()).filter(({ state }) => state === "running");
  let ended = 0;
  await inTurns(running, async (sandbox) => {
    if (!(await reconnect(ports, runner, sandbox))) ended++;
  });
  const swept = await sweep(ports);
  return { operations: pending.length, reconnected: running.length - ended, ended, swept };
}

function refuseUnknown(operation: OperationRecord): void {
  const { id, kind, phase, damage } = operation;
  if (damage?.field === "kind") {
    throw new TorporError(
      "storage_failed",
      `operation ${id} is of a kind that this Torpor does not know: start the newer version that began it`,
    );
  }
  if (damage !== undefined || procedureOf(operation).phases.some(({ name }) => name === phase)) return;
  throw new TorporError(
    "storage_failed",
    `operation ${id} (${kind}) is in phase ${phase}, which this Torpor does not know: start the newer version that began it`,
  );
}

async function finish(ports: Ports, runner: Runner, operation: OperationRecord): Promise<void> {
  const sandbox = await ports.store.findSandbox(operation.sandboxId);
  const trouble = troubleWith(operation, sandbox);
  if (trouble !== undefined || sandbox === undefined) return giveUp(ports, operation, sandbox, trouble ?? "it has no sandbox");
  const again: OperationRecord = { ...operation, attempt: operation.attempt + 1, actor: "recovery" };
  await ports.store.commit({ operations: [again] });
  const ended = await runner.run(sandbox, { ...again, version: again.version + 1 });
  ports.log.info("an operation of an ended daemon was settled", { operation: ended.id, kind: ended.kind, status: ended.status });
}

function troubleWith({ sandboxId, damage }: OperationRecord, sandbox: SandboxRecord | undefined): string | undefined {
  if (sandbox === undefined) return `there is no sandbox ${sandboxId}`;
  if (damage !== undefined) return `its own record can't be read: ${damage.field} is not what it should be`;
  if (sandbox.damage !== undefined)
    return `the record of sandbox ${sandboxId} can't be read: ${sandbox.damage.field} is not what it should be`;
  return undefined;
}

/** A record edited by hand must not keep the others from their recovery. A damaged record of the sandbox itself is left as it is. */
async function giveUp(ports: Ports, operation: OperationRecord, sandbox: SandboxRecord | undefined, why: string): Promise<void> {
  const at = ports.clock.now().toISOString();
  const message = `operation ${operation.id} could not be carried on: ${why}`;
  const code = sandbox === undefined ? ("sandbox_not_found" as const) : ("storage_failed" as const);
  const ended: OperationRecord = { ...operation, status: "failed", error: { code, message }, endedAt: at };
  const free = sandbox !== undefined && sandbox.damage === undefined && sandbox.operationId === operation.id;
  const failed = free ? [{ ...sandbox, state: "failed" as const, operationId: null, failure: { code, message, at }, updatedAt: at }] : [];
  await ports.store.commit({ operations: [ended], sandboxes: failed });
  ports.log.error("an operation was given up", { operation: operation.id, sandbox: operation.sandboxId, cause: message });
}

/** false: its runtime had ended. A guest that does not answer is not a reason to end it: calls to it will say so. */
async function reconnect(ports: Ports, runner: Runner, sandbox: SandboxRecord): Promise<boolean> {
  try {
    if (await settleIfEnded(ports, runner, sandbox)) return false;
    if (sandbox.runtimeId !== null) await greetRunning(ports, sandbox, sandbox.runtimeId);
  } catch (error) {
    ports.log.error("a running sandbox did not answer", { sandbox: sandbox.id, cause: describeError(error) });
  }
  return true;
}

/** Frees what no record and no running operation refers to. Order: runtimes hold disks open. */
async function sweep(ports: Ports): Promise<number> {
  const kept = await referred(ports);
  const sources = [
    { what: "runtime", list: () => ports.engine.list(), free: (id: string) => ports.engine.destroy(id) },
    { what: "checkpoint", list: () => ports.checkpoints.list(), free: (id: string) => ports.checkpoints.remove(id) },
    { what: "disk", list: () => ports.disks.list(), free: (id: string) => ports.disks.remove(id) },
  ];
  let swept = 0;
  for (const { what, list, free } of sources) {
    const orphans = (await list()).filter((id) => !kept.has(id));
    await inTurns(orphans, async (id) => {
      try {
        await free(id);
        swept++;
        ports.log.info("freed what nothing referred to", { what, id });
      } catch (error) {
        ports.log.error("a leftover could not be freed", { what, id, cause: describeError(error) });
      }
    });
  }
  return swept;
}

async function referred(ports: Ports): Promise<ReadonlySet<unknown>> {
  const sandboxes = await ports.store.listSandboxes();
  const pending = await ports.store.runningOperations();
  const snapshots = await ports.store.listSnapshots();
  return new Set<unknown>([
    ...sandboxes.flatMap(({ runtimeId, diskId, checkpoint, damage }) => [runtimeId, diskId, checkpoint?.id, ...(damage?.mentions ?? [])]),
    ...snapshots.flatMap(({ diskId, checkpoint, damage }) => [diskId, checkpoint?.id, ...(damage?.mentions ?? [])]),
    ...pending.flatMap(({ notes, damage }) => [...Object.values(notes), ...(damage?.mentions ?? [])]),
  ]);
}

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
