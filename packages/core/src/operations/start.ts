import { launch, launched, launchFailed, undoLaunch } from "./launch.ts";
import type { Procedure } from "./procedure.ts";

/** A fresh boot from the disk of a stopped or failed sandbox. */
export const start: Procedure = {
  kind: "start",
  phases: [launch],
  commitPoint: null,
  undo: undoLaunch,
  succeed(work) {
    const outcome = launched(work);
    return { ...outcome, events: [{ type: "sandbox.started", data: { generation: outcome.sandbox.generation } }] };
  },
  fail: launchFailed,
};
