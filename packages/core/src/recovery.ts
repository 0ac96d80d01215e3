import { TorporError } from "@torpor/contract";
import { settleIfEnded } from "./ends.ts";
import { describeError } from "./failure.ts";
import { procedureOf } from "./operations/procedures.ts";
import type { Runner } from "./operations/runner.ts";
import { greet } from "./operations/runtime.ts";
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
  const known = procedureOf(operation).phases.map(({ name }) => name);
  if (known.includes(operation.phase)) return;
  const { id, kind, phase } = operation;
  throw new TorporError(
    "internal",
    `operation ${id} (${kind}) is in phase ${phase}, which this Torpor does not know: start the newer version that began it`,
  );
}

async function finish(ports: Ports, runner: Runner, operation: OperationRecord): Promise<void> {
  const sandbox = await ports.store.findSandbox(operation.sandboxId);
  if (sandbox === undefined) return giveUp(ports, operation);
  const again: OperationRecord = { ...operation, attempt: operation.attempt + 1, actor: "recovery" };
  await ports.store.commit({ operations: [again] });
  const ended = await runner.run(sandbox, { ...again, version: again.version + 1 });
  ports.log.info("an operation of an ended daemon was settled", { operation: ended.id, kind: ended.kind, status: ended.status });
}

/** A record edited by hand must not keep the others from their recovery. */
async function giveUp(ports: Ports, operation: OperationRecord): Promise<void> {
  const error = { code: "sandbox_not_found" as const, message: `operation ${operation.id} has no sandbox ${operation.sandboxId}` };
  await ports.store.commit({ operations: [{ ...operation, status: "failed", error, endedAt: ports.clock.now().toISOString() }] });
}

/** false: its runtime had ended. A guest that does not answer is not a reason to end it: calls to it will say so. */
async function reconnect(ports: Ports, runner: Runner, sandbox: SandboxRecord): Promise<boolean> {
  try {
    if (await settleIfEnded(ports, runner, sandbox)) return false;
    if (sandbox.runtimeId !== null) await greet(ports, sandbox, sandbox.runtimeId, sandbox.generation, "reconnected");
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

async function referred(ports: Ports): Promise<ReadonlySet<string>> {
  const kept = new Set<string>();
  for (const { runtimeId, diskId, checkpoint } of await ports.store.listSandboxes()) {
    for (const id of [runtimeId, diskId, checkpoint?.id]) if (typeof id === "string") kept.add(id);
  }
  for (const { notes } of await ports.store.runningOperations()) {
    for (const value of Object.values(notes)) if (typeof value === "string") kept.add(value);
  }
  return kept;
}

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
