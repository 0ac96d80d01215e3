import type { Capture } from "../ports/engine.ts";
import type { Ports } from "../ports/ports.ts";
import type { SandboxRecord } from "../ports/store.ts";
import { quietly } from "./aftermath.ts";
import { capture, checkpointOf, goOn, runtimeOf, sealCapture, undoFreeze } from "./freezing.ts";
import { note, numericNote, optionalNote, type Phase, type Work } from "./procedure.ts";
import { allEnded, cloneAnew, readCheckpoint } from "./runtime.ts";

/** Disk and memory of a frozen sandbox, at one instant, under the ids in the notes `fromDiskId` and `checkpointId`. */
export const captureBoth: Phase = {
  name: "capture",
  joined: true,
  redoFrom: "quiesce",
  async run(work) {
    const { ports, sandbox } = work;
    const withMemory = optionalNote(work, "checkpointId") !== null;
    const taken = withMemory ? await capture(work) : await ports.engine.syncDisk(runtimeOf(sandbox));
    await cloneAnew(ports, sandbox.diskId ?? "", note(work, "fromDiskId"));
    return { notes: { capture: taken ?? null } };
  },
};

export const thaw: Phase = {
  name: "thaw",
  beside: true,
  redoFrom: "quiesce",
  async run(work) {
    const thawedAt = await goOn(work);
    const frozenMs = work.repeated ? 0 : thawedAt - numericNote(work, "frozenAt");
    return { notes: { frozenMs: Math.round(frozenMs * 100) / 100 } };
  },
};

/** Not durable: for who uses it up at once. */
export const sealing = (durable: boolean): Phase => ({
  name: "seal",
  redoFrom: "quiesce",
  async run(work) {
    const checkpointId = optionalNote(work, "checkpointId");
    if (checkpointId === null) return undefined;
    const taken = work.operation.notes.capture as Capture;
    const manifest = await sealCapture(work, checkpointId, note(work, "fromDiskId"), taken, { durable });
    return { notes: { capture: null, sealed: checkpointOf(manifest) } };
  },
});

/** The sandbox goes on, and nothing is left of what was taken of it. */
export async function undoCapture(work: Work): Promise<void> {
  await undoFreeze(work);
  await undoCopy(work, "fromDiskId");
}

/** Of the copy whose ids are in the notes. */
export async function undoCopy(work: Work, diskNote: "diskId" | "fromDiskId"): Promise<void> {
  const checkpointId = optionalNote(work, "checkpointId");
  await quietly(work.ports, `undoing a ${work.operation.kind}`, [
    async () => {
      if (checkpointId !== null) await work.ports.checkpoints.remove(checkpointId);
    },
    () => work.ports.disks.remove(note(work, diskNote)),
  ]);
}

/** Where a state at rest lies: a disk, and the checkpoint that is bound to it. */
export interface State {
  readonly diskId: string;
  /** null: files only. */
  readonly checkpointId: string | null;
  /** The sandbox in the checkpoint's manifest. */
  readonly ownerId: string;
}

/** A copy that lives by itself, durable once this resolves; the blocks are shared. Repeatable. Gives the copy of the checkpoint. */
export async function copyState(ports: Ports, sandbox: SandboxRecord, from: State, to: State): Promise<SandboxRecord["checkpoint"]> {
  const copyDisk = async () => {
    await cloneAnew(ports, from.diskId, to.diskId);
    await ports.disks.sync(to.diskId);
  };
  const [checkpoint] = await allEnded([copyCheckpoint(ports, sandbox, from, to), copyDisk()]);
  return checkpoint;
}

async function copyCheckpoint(ports: Ports, sandbox: SandboxRecord, from: State, to: State): Promise<SandboxRecord["checkpoint"]> {
  if (from.checkpointId === null || to.checkpointId === null) return null;
  const manifest = await readCheckpoint(ports, sandbox, from.checkpointId, from.diskId, from.ownerId);
  const copied = { ...manifest, id: to.checkpointId, diskId: to.diskId, sandboxId: to.ownerId };
  await ports.checkpoints.clone(from.checkpointId, copied);
  return checkpointOf(copied);
}
