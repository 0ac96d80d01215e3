import type { Actor } from "@torpor/contract";
import { describeError } from "./failure.ts";
import { newOperation } from "./lifecycle/new-operation.ts";
import { endOf } from "./operations/aftermath.ts";
import type { Runner } from "./operations/runner.ts";
import type { RuntimeEnd } from "./ports/engine.ts";
import type { Ports } from "./ports/ports.ts";
import { type SandboxRecord, StoreConflict } from "./ports/store.ts";

/** A runtime that ended by itself becomes an operation like any other, so that it can't cross one. */
export function watchEnds(ports: Ports, runner: Runner, settled: (sandboxId: string) => void): void {
  ports.engine.onEnd((runtimeId, end) => {
    settleEnd(ports, runner, runtimeId, end, "engine").then(
      (sandboxId) => {
        if (sandboxId !== undefined) settled(sandboxId);
      },
      (error: unknown) =>
        ports.log.error("an ended runtime could not be written down", { runtime: runtimeId, cause: describeError(error) }),
    );
  });
}

/** So often, and so far apart, one looks again at an operation that is begun and not at work yet, or is another process's. */
const looks = 100;
const lookAgainMs = 50;

/** Waits for the operation at work, which may have dealt with the end already. Gives the sandbox whose runtime it was. */
export async function settleEnd(
  ports: Ports,
  runner: Runner,
  runtimeId: string,
  end: RuntimeEnd,
  actor: Actor,
): Promise<string | undefined> {
  let owner: string | undefined;
  for (let look = 0; look < looks; look++) {
    const sandbox = await ownerOf(ports, runtimeId);
    if (sandbox === undefined) return owner;
    owner = sandbox.id;
    if (sandbox.operationId !== null) {
      const ended = runner.ended(sandbox.operationId);
      await (ended ?? ports.clock.sleep(lookAgainMs));
      continue;
    }
    if (sandbox.state !== "running" || (await begun(ports, runner, sandbox, end, actor))) return owner;
  }
  return owner;
}

/** Also while the operation that makes the runtime has not written it into the record yet. */
async function ownerOf(ports: Ports, runtimeId: string): Promise<SandboxRecord | undefined> {
  const making = (await ports.store.runningOperations()).find(({ notes }) => notes.runtimeId === runtimeId);
  const sandboxes = await ports.store.listSandboxes();
  return sandboxes.find((record) => record.runtimeId === runtimeId || record.id === making?.sandboxId);
}

/** For recovery: a record that says running, and a runtime that does not. */
export async function settleIfEnded(ports: Ports, runner: Runner, sandbox: SandboxRecord): Promise<boolean> {
  const { runtimeId } = sandbox;
  if (runtimeId === null) return false;
  let status = await ports.engine.inspect(runtimeId);
  if (status.state === "frozen") {
    await ports.engine.thaw(runtimeId);
    status = await ports.engine.inspect(runtimeId);
  }
  if (status.state === "running") return false;
  await settleEnd(ports, runner, runtimeId, endOf(status), "recovery");
  return true;
}

async function begun(ports: Ports, runner: Runner, sandbox: SandboxRecord, end: RuntimeEnd, actor: Actor): Promise<boolean> {
  const at = ports.clock.now().toISOString();
  const operation = newOperation(at, {
    id: ports.ids.next("op"),
    kind: "stop",
    sandboxId: sandbox.id,
    phase: "reclaim",
    actor,
    request: { end },
    notes: { prior: sandbox.state },
  });
  const stopping: SandboxRecord = { ...sandbox, state: "stopping", operationId: operation.id, updatedAt: at };
  try {
    await ports.store.commit({ sandboxes: [stopping], operations: [operation] });
  } catch (error) {
    if (error instanceof StoreConflict) return false;
    throw error;
  }
  await runner.run({ ...stopping, version: sandbox.version + 1 }, { ...operation, version: 1 });
  return true;
}
