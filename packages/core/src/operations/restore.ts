import type { SandboxRecord } from "../ports/store.ts";
import { atRest } from "./aftermath.ts";
import { copyState, undoCopy } from "./copying.ts";
import { reclaim } from "./ending.ts";
import { note, type Outcome, optionalNote, type Phase, type Procedure } from "./procedure.ts";

const copy: Phase = {
  name: "copy",
  async run(work) {
    const { ports, sandbox } = work;
    const from = {
      diskId: note(work, "fromDiskId"),
      checkpointId: optionalNote(work, "fromCheckpointId"),
      ownerId: note(work, "fromOwnerId"),
    };
    const to = { diskId: note(work, "diskId"), checkpointId: optionalNote(work, "checkpointId"), ownerId: sandbox.id };
    return { notes: { sealed: await copyState(ports, sandbox, from, to) } };
  },
};

/** A sandbox at rest goes back to a snapshot. What it has is freed only when the record says so. */
export const restore: Procedure = {
  kind: "restore",
  phases: [copy, reclaim],
  commitPoint: null,
  undo: (work) => undoCopy(work, "diskId"),
  succeed(work): Outcome {
    const { ports, sandbox, operation } = work;
    const { image, resources, sealed, prior } = operation.notes as Pick<SandboxRecord, "image" | "resources"> & {
      readonly sealed: SandboxRecord["checkpoint"];
      readonly prior: SandboxRecord["state"];
    };
    const at = ports.clock.now().toISOString();
    const state = sealed !== null || prior === "paused" ? "paused" : "stopped";
    const snapshotId = note(work, "snapshotId");
    const result = { snapshot: { id: snapshotId, name: note(work, "snapshotName") }, memory: sealed !== null };
    return {
      sandbox: {
        state,
        image,
        resources,
        diskId: note(work, "diskId"),
        checkpoint: sealed,
        snapshotId,
        runtimeId: null,
        restored: null,
        failure: null,
        pausedAt: state === "paused" ? (sandbox.pausedAt ?? at) : null,
        stoppedAt: state === "stopped" ? (sandbox.stoppedAt ?? at) : null,
      },
      events: [{ type: "sandbox.restored", data: result }],
      result,
      garbage: {
        disks: sandbox.diskId === null ? [] : [sandbox.diskId],
        checkpoints: sandbox.checkpoint === null ? [] : [sandbox.checkpoint.id],
      },
    };
  },
  fail: atRest,
};
