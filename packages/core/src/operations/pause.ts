import type { Capture } from "../ports/engine.ts";
import { quietly, survivor } from "./aftermath.ts";
import { endingFailed, reclaim, shutdown } from "./ending.ts";
import { capture, checkpointOf, freeze, quiesce, sealCapture, undoFreeze } from "./freezing.ts";
import { note, numericNote, type Outcome, type Procedure, type Work } from "./procedure.ts";
import { calledOff, timeoutOf } from "./timeout.ts";

/** Memory and files kept. Until the checkpoint is committed to the record the sandbox can go on, and does if anything fails. */
export const pause: Procedure = {
  kind: "pause",
  phases: [
    quiesce,
    freeze,
    {
      name: "capture",
      // Capturing again is as good as knowing what was captured, while the runtime is frozen.
      joined: true,
      redoFrom: "quiesce",
      async run(work) {
        return { notes: { capture: await capture(work, { forSeal: true }) } };
      },
    },
    {
      name: "seal",
      redoFrom: "quiesce",
      async run(work) {
        const { sandbox, operation } = work;
        const captured = operation.notes.capture as Capture;
        const manifest = await sealCapture(work, note(work, "checkpointId"), sandbox.diskId ?? "", captured);
        const checkpoint = checkpointOf(manifest);
        // The line of an earlier checkpoint that could not be restored ends here.
        return {
          sandbox: { checkpoint },
          notes: { capture: null, replaced: sandbox.checkpoint?.id ?? null, sealedBytes: checkpoint.storedBytes },
        };
      },
    },
    {
      name: "reclaim",
      async run({ ports, sandbox }) {
        // The line ends only now: the streams of a pause that fails before go on unbroken. A new one could not be opened to a frozen guest.
        if (sandbox.runtimeId !== null) await ports.engine.destroy(sandbox.runtimeId, "paused");
        return undefined;
      },
    },
  ],
  commitPoint: "reclaim",
  async undo(work) {
    await undoFreeze(work);
    await quietly(work.ports, "removing an unfinished checkpoint", [() => work.ports.checkpoints.remove(note(work, "checkpointId"))]);
  },
  succeed: (work) => paused(work, true),
  async fail(work, failing) {
    return failing.committed ? endingFailed(work, failing) : calledOff(work, failing, await survivor(work));
  },
};

/** Files only: processes end as in a shutdown. */
export const pauseFiles: Procedure = {
  kind: "pause",
  phases: [{ ...shutdown, joined: true }, reclaim],
  commitPoint: "shutdown",
  async undo() {},
  succeed: (work) => paused(work, false),
  fail: endingFailed,
};

function paused(work: Work, memory: boolean): Outcome {
  const { ports, sandbox } = work;
  const replaced = memory ? work.operation.notes.replaced : sandbox.checkpoint?.id;
  const result = {
    memory,
    releasedBytes: numericNote(work, "heldBytes"),
    checkpointBytes: numericNote(work, "sealedBytes"),
    ...timeoutOf(work),
  };
  return {
    sandbox: {
      state: "paused",
      runtimeId: null,
      restored: null,
      failure: null,
      startedAt: null,
      expiresAt: null,
      pausedAt: ports.clock.now().toISOString(),
      ...(memory ? {} : { checkpoint: null }),
    },
    events: [{ type: "sandbox.paused", data: result }],
    result,
    garbage: { checkpoints: typeof replaced === "string" ? [replaced] : [] },
  };
}
