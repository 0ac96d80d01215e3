import { TorporError } from "@torpor/contract";
import type { Runner } from "./operations/runner.ts";
import type { Ports } from "./ports/ports.ts";
import type { OperationRecord } from "./ports/store.ts";

/** So often, and so far apart, one looks at an operation that is begun and not at work yet, or is another process's. */
const looks = 100;
const lookAgainMs = 50;

/** Resolves when the operation has ended, well or not. Rejects if nobody is at work on it. */
export async function endingOf({ ports, runner }: { ports: Ports; runner: Runner }, { id }: OperationRecord): Promise<void> {
  for (let look = 0; look < looks; look++) {
    const ended = runner.ended(id);
    if (ended !== undefined) {
      await ended;
      return;
    }
    if ((await ports.store.findOperation(id))?.status !== "running") return;
    await ports.clock.sleep(lookAgainMs);
  }
  throw new TorporError("operation_active", `operation ${id} is not at work in this daemon: a restart of the daemon ends it`);
}
