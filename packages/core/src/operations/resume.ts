import { launch, launched, launchFailed, lossOf, undoLaunch } from "./launch.ts";
import { note, type Procedure } from "./procedure.ts";

/** Same id, next generation, its memory if it can be had. */
export const resume: Procedure = {
  kind: "resume",
  phases: [launch],
  commitPoint: null,
  freeLater: true,
  undo: undoLaunch,
  succeed(work) {
    const outcome = launched(work);
    const restored = note(work, "restored");
    const reason = lossOf(work);
    const result = { restored, ...(reason === null ? {} : { reason }) };
    const memory =
      restored === "memory" ? [{ type: "memory_restored", data: {} }] : reason === null ? [] : [{ type: "memory_lost", data: { reason } }];
    const generation = outcome.sandbox.generation;
    return { ...outcome, result, events: [{ type: "sandbox.resumed", data: { ...result, generation } }, ...memory] };
  },
  fail: launchFailed,
};
