import { describeError } from "../failure.ts";
import { failureOf, leftover } from "./aftermath.ts";
import type { Failing, Outcome, Phase, Work } from "./procedure.ts";

/** What a files-only pause gives the processes: as long as a stop does when it isn't told. */
const defaultGraceMs = 10_000;

/** Processes end as in a shutdown. A guest that does not answer only means that `reclaim` kills them. */
export const shutdown: Phase = {
  name: "shutdown",
  async run(work) {
    const { ports, sandbox, operation, signal } = work;
    const { runtimeId } = sandbox;
    if (operation.notes.prior !== "running" || runtimeId === null) return undefined;
    const graceMs = (operation.request.graceMs as number | undefined) ?? defaultGraceMs;
    const heldBytes = await ports.engine.memoryBytes(runtimeId).catch(() => 0);
    try {
      const guest = await ports.engine.guest(runtimeId);
      const inOrder = async (): Promise<void> => {
        if (operation.kind !== "remove") {
          await guest.prepareStop();
          await ports.windDown?.(sandbox.id, guest, graceMs);
        }
        await guest.shutdown(graceMs);
      };
      // A removal does not wait for the grace.
      await Promise.race([inOrder(), aborted(signal)]);
      guest.close("stopped");
    } catch (error) {
      ports.log.info("the guest did not shut down: its runtime is killed", { sandbox: sandbox.id, cause: describeError(error) });
    }
    return { notes: { heldBytes } };
  },
};

/** The runtime and all that it holds on the host are gone. */
export const reclaim: Phase = {
  name: "reclaim",
  async run({ ports, sandbox }) {
    if (sandbox.runtimeId !== null) await ports.engine.destroy(sandbox.runtimeId);
    return undefined;
  },
};

/** An ending that could not be carried through: it can be started or removed, and its memory resumed if it was kept. */
export async function endingFailed({ ports, sandbox }: Work, failing: Failing): Promise<Outcome> {
  return {
    sandbox: { state: "failed", failure: failureOf(ports, failing), runtimeId: await leftover(ports, sandbox.runtimeId) },
    events: [],
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
