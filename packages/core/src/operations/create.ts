import { TorporError } from "@torpor/contract";
import { imageMissing } from "../lifecycle/refusals.ts";
import { runsFrom } from "../time/instants.ts";
import { failureOf, leftover, quietly } from "./aftermath.ts";
import { lostMemory } from "./launch.ts";
import { note, type Outcome, optionalNote, type Phase, type Procedure, type Work } from "./procedure.ts";
import { boot, cloneAnew, readCheckpoint, restore } from "./runtime.ts";

const firstGeneration = 1;

const image: Phase = {
  name: "image",
  giveUpOnCrash: true,
  async run({ ports, sandbox, operation, signal }) {
    const { reference } = sandbox.image;
    const found = await ports.images.find(reference);
    if (found !== undefined) return { sandbox: { image: { reference, digest: found.digest } } };
    if (operation.request.pull === false) {
      throw imageMissing(reference);
    }
    const pulled = await ports.images.pull({ reference }, () => {}, signal);
    return { sandbox: { image: { reference, digest: pulled.digest } } };
  },
};

const disk: Phase = {
  name: "disk",
  joined: true,
  async run(work) {
    await makeDisk(work);
    return undefined;
  },
};

const bootPhase: Phase = {
  name: "boot",
  redoFrom: "disk",
  async run(work) {
    const { ports, sandbox } = work;
    const incarnation = { runtimeId: note(work, "runtimeId"), diskId: note(work, "diskId"), generation: firstGeneration };
    const checkpointId = optionalNote(work, "fromCheckpointId");
    // A child of a files-only fork boots like any other.
    if (checkpointId === null) {
      await boot(ports, sandbox, incarnation);
      return { notes: { restored: "files" } };
    }
    try {
      const manifest = await readCheckpoint(ports, sandbox, checkpointId, note(work, "fromDiskId"), sandbox.parentId ?? sandbox.id);
      await restore(ports, sandbox, incarnation, "forked", manifest);
    } catch (error) {
      throw advised(work, error);
    }
    return { notes: { restored: "memory" } };
  },
};

/** A new sandbox from an image, or as the child of a fork from its parent's disk and checkpoint. */
export const create: Procedure = {
  kind: "create",
  phases: [image, disk, bootPhase],
  commitPoint: null,
  async undo(work) {
    await quietly(work.ports, "undoing a create", [
      () => work.ports.engine.destroy(note(work, "runtimeId")),
      () => work.ports.disks.remove(note(work, "diskId")),
    ]);
  },
  succeed(work) {
    const { ports, sandbox } = work;
    const now = ports.clock.now();
    return {
      sandbox: {
        ...runsFrom(sandbox, now),
        state: "running",
        runtimeId: note(work, "runtimeId"),
        generation: firstGeneration,
        restored: note(work, "restored") === "memory" ? "memory" : "files",
        startedAt: now.toISOString(),
      },
      events: [{ type: "sandbox.created", data: { name: sandbox.name, image: sandbox.image.digest, parentId: sandbox.parentId } }],
    };
  },
  async fail(work, failing): Promise<Outcome> {
    const runtimeId = await leftover(work.ports, note(work, "runtimeId"));
    // A record stays only if somebody has to see it: the removal that superseded it, or whoever finds the runtime that is left.
    if (!failing.superseded && runtimeId === null) return { sandbox: "removed", events: [] };
    return { sandbox: { state: "failed", failure: failureOf(work.ports, failing), runtimeId }, events: [] };
  },
};

/** Of a snapshot whose memory can't be had the files still can. */
function advised(work: Work, error: unknown): unknown {
  if (!(error instanceof TorporError) || !lostMemory.has(error.code) || optionalNote(work, "snapshotId") === null) return error;
  const { code, message, details } = error;
  return new TorporError(code, message, { hint: "take the snapshot's files only (--files-only)", details: { ...details }, cause: error });
}

async function makeDisk(work: Work): Promise<void> {
  const { ports, sandbox, repeated } = work;
  const diskId = note(work, "diskId");
  if (repeated) {
    await ports.engine.destroy(note(work, "runtimeId"));
    await ports.disks.remove(diskId);
  }
  const source = optionalNote(work, "fromDiskId");
  if (source === null) await ports.disks.create(diskId, sandbox.resources.diskBytes);
  else if (repeated) await cloneAnew(ports, source, diskId);
  else await ports.disks.clone(source, diskId);
}
