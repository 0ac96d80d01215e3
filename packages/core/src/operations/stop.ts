import type { RuntimeEnd } from "../ports/engine.ts";
import { endedState } from "./aftermath.ts";
import { endingFailed, reclaim, shutdown } from "./ending.ts";
import type { Outcome, Procedure, Work } from "./procedure.ts";
import { timeoutOf } from "./timeout.ts";

/** Ends the runtime and gives up the memory kept by a pause; the disk stays. */
export const stop: Procedure = {
  kind: "stop",
  phases: [{ ...shutdown, joined: true, redoFrom: "shutdown" }, reclaim],
  commitPoint: "shutdown",
  async undo() {},
  succeed(work) {
    return { ...stopped(work), events: [{ type: "sandbox.stopped", data: timeoutOf(work) }] };
  },
  fail: endingFailed,
};

/** A runtime that ended without being asked to: the same way, but the cause decides the state. */
export const ended: Procedure = {
  ...stop,
  phases: [reclaim],
  commitPoint: "reclaim",
  succeed(work) {
    const end = work.operation.request.end as RuntimeEnd;
    const outcome = stopped(work);
    return {
      ...outcome,
      sandbox: { ...(outcome.sandbox as object), ...endedState(work.ports, end) },
      events: [{ type: "sandbox.ended", data: { ...end } }],
    };
  },
};

function stopped({ ports, sandbox }: Work): Outcome {
  return {
    sandbox: {
      state: "stopped",
      runtimeId: null,
      checkpoint: null,
      restored: null,
      failure: null,
      startedAt: null,
      expiresAt: null,
      pausedAt: null,
      stoppedAt: ports.clock.now().toISOString(),
    },
    events: [],
    garbage: { checkpoints: sandbox.checkpoint === null ? [] : [sandbox.checkpoint.id] },
  };
}
