import type { RebaseRequest } from "@torpor/contract";
import type { SandboxRecord } from "../ports/store.ts";
import { atRest } from "./aftermath.ts";
import { undoCopy } from "./copying.ts";
import { reclaim } from "./ending.ts";
import type { Outcome, Procedure } from "./procedure.ts";
import { copyAtRest, snapshotOf } from "./snapshot.ts";

const defaultRollbackMs = 7 * 24 * 60 * 60 * 1000;

/**
 * The files of a sandbox at rest over another image: a disk holds what differs from its image, so only the record changes. Memory belongs to
 * the old image's files and ends; a snapshot of all that there was is kept for a while.
 */
export const rebase: Procedure = {
  kind: "rebase",
  phases: [{ ...reclaim, joined: true }, copyAtRest],
  commitPoint: null,
  undo: (work) => undoCopy(work, "fromDiskId"),
  succeed(work): Outcome {
    const { ports, sandbox, operation } = work;
    const { rollbackMs = defaultRollbackMs } = operation.request as RebaseRequest;
    const image = operation.notes.image as SandboxRecord["image"];
    const expiresAt = new Date(ports.clock.now().getTime() + rollbackMs).toISOString();
    const rollback = snapshotOf(work, { expiresAt, rollbackOf: sandbox.id });
    const result = { image, before: sandbox.image, rollback: { id: rollback.id, name: rollback.name, expiresAt } };
    return {
      sandbox: { image, checkpoint: null, runtimeId: null, failure: null },
      snapshots: [rollback],
      events: [{ type: "sandbox.rebased", data: result }],
      result,
      garbage: { checkpoints: sandbox.checkpoint === null ? [] : [sandbox.checkpoint.id] },
    };
  },
  fail: atRest,
};
