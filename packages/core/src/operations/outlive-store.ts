import { TorporError } from "@torpor/contract";
import { describeError } from "../failure.ts";
import type { Ports } from "../ports/ports.ts";
import type { OperationRecord, SandboxRecord } from "../ports/store.ts";

interface Attempt {
  readonly sandbox: SandboxRecord;
  readonly operation: OperationRecord;
}

/** So often, and so far apart at most, one looks whether the store works again: 8 minutes. Then the next start of the daemon has to. */
const looks = 100;
const firstPauseMs = 100;
const longestPauseMs = 5000;
/** A store that takes one commit and fails the next is given up too. */
const attempts = 10;

/**
 * An attempt fails as a whole only when the store does: its disk is full, its server away for too long. The operation would be at work for
 * ever, so it is taken up again, as after a kill of the daemon, once the store takes a commit.
 */
export async function outliveStore(
  ports: Ports,
  first: Attempt,
  attempt: (next: Attempt) => Promise<OperationRecord>,
): Promise<OperationRecord> {
  let next = first;
  for (let left = attempts; ; left--) {
    try {
      return await attempt(next);
    } catch (error) {
      if (left <= 1 || !isStoreFailure(error)) throw error;
      const { id, kind } = first.operation;
      ports.log.error(`the store failed in the middle of a ${kind}: it is taken up again`, { operation: id, cause: describeError(error) });
    }
    const found = await takeUp(ports, first.operation.id);
    if (found.operation.status !== "running" || found.sandbox === undefined) return found.operation;
    next = { sandbox: found.sandbox, operation: found.operation };
  }
}

async function takeUp(ports: Ports, id: string): Promise<{ sandbox: SandboxRecord | undefined; operation: OperationRecord }> {
  let pauseMs = firstPauseMs;
  for (let left = looks; ; left--) {
    await ports.clock.sleep(pauseMs);
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    try {
      return await takeUpOnce(ports, id);
    } catch (error) {
      if (left <= 1 || !isStoreFailure(error)) throw error;
    }
  }
}

/** Its last commit may have taken place after all, and with it its end. */
async function takeUpOnce(ports: Ports, id: string): Promise<{ sandbox: SandboxRecord | undefined; operation: OperationRecord }> {
  const operation = await ports.store.findOperation(id);
  if (operation === undefined) throw new Error(`operation ${id} is not there any more`);
  const sandbox = await ports.store.findSandbox(operation.sandboxId);
  if (operation.status !== "running") return { sandbox, operation };
  const again = { ...operation, attempt: operation.attempt + 1 };
  await ports.store.commit({ operations: [again] });
  return { sandbox, operation: { ...again, version: again.version + 1 } };
}

function isStoreFailure(error: unknown): boolean {
  return error instanceof TorporError && error.code === "storage_failed";
}
