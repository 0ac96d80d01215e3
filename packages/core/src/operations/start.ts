import { launch, launched, launchFailed, undoLaunch } from "./launch.ts";
import type { Procedure } from "./procedure.ts";

/** Of a start that nobody but the sandbox's own setting asked for. */
export interface Restart {
  readonly attempt: number;
  readonly reason: string;
}

/** A fresh boot from the disk of a stopped or failed sandbox. */
export const start: Procedure = {
  kind: "start",
  phases: [launch],
  commitPoint: null,
  undo: undoLaunch,
  succeed(work) {
    const outcome = launched(work);
    const { generation } = outcome.sandbox;
    const { restart } = work.operation.request as { restart?: Restart };
    const restarted = restart === undefined ? [] : [{ type: "sandbox.restarted", data: { ...restart, generation } }];
    return { ...outcome, events: [{ type: "sandbox.started", data: { generation } }, ...restarted] };
  },
  fail: launchFailed,
};
