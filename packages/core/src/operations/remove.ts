import { endingFailed, reclaim } from "./ending.ts";
import type { Procedure } from "./procedure.ts";
import { timeoutOf } from "./timeout.ts";

/** Frees everything, in every state, whatever is missing already. */
export const remove: Procedure = {
  kind: "remove",
  phases: [
    { ...reclaim, joined: true },
    {
      name: "free",
      async run({ ports, sandbox }) {
        if (sandbox.checkpoint !== null) await ports.checkpoints.remove(sandbox.checkpoint.id);
        if (sandbox.diskId !== null) await ports.disks.remove(sandbox.diskId);
        return undefined;
      },
    },
  ],
  commitPoint: "reclaim",
  async undo() {},
  succeed(work) {
    return { sandbox: "removed", events: [{ type: "sandbox.removed", data: { name: work.sandbox.name, ...timeoutOf(work) } }] };
  },
  fail: endingFailed,
};
