import type { CreateSnapshotRequest } from "@torpor/contract";
import { teamOf } from "../access/teams.ts";
import type { SandboxRecord, SnapshotRecord } from "../ports/store.ts";
import { atRest, survivor } from "./aftermath.ts";
import { captureBoth, copyState, sealing, thaw, undoCapture, undoCopy } from "./copying.ts";
import { reclaim } from "./ending.ts";
import { freeze, quiesce } from "./freezing.ts";
import { note, numericNote, type Outcome, optionalNote, type Phase, type Procedure, type Work } from "./procedure.ts";

/** The copy is on the disk before any record names it. */
const settle: Phase = {
  name: "settle",
  async run(work) {
    const diskId = note(work, "fromDiskId");
    await work.ports.disks.sync(diskId);
    return { notes: { diskBytes: await work.ports.disks.storedBytes(diskId) } };
  },
};

/** Of a sandbox without a runtime: its disk and checkpoint stand still already, it isn't woken. */
export const copyAtRest: Phase = {
  name: "copy",
  async run(work) {
    const { ports, sandbox } = work;
    const diskId = note(work, "fromDiskId");
    const checkpointId = optionalNote(work, "checkpointId");
    const from = { diskId: sandbox.diskId ?? "", checkpointId: sandbox.checkpoint?.id ?? null, ownerId: sandbox.id };
    const sealed = await copyState(ports, sandbox, from, { diskId, checkpointId, ownerId: sandbox.id });
    return { notes: { sealed, diskBytes: await ports.disks.storedBytes(diskId) } };
  },
};

/** Of a running sandbox: the short freeze of a fork, and what it takes is kept. */
export const snapshot: Procedure = {
  kind: "snapshot",
  phases: [quiesce, freeze, captureBoth, thaw, { ...sealing(true), joined: true }, settle],
  commitPoint: null,
  undo: undoCapture,
  succeed: kept,
  fail: survivor,
};

export const snapshotAtRest: Procedure = {
  kind: "snapshot",
  // A launch that failed may have left a runtime that holds the disk.
  phases: [{ ...reclaim, joined: true }, copyAtRest],
  commitPoint: null,
  undo: (work) => undoCopy(work, "fromDiskId"),
  succeed(work) {
    return { ...kept(work), sandbox: withoutRuntime(work) };
  },
  fail: atRest,
};

function kept(work: Work): Outcome {
  const snapshot = snapshotOf(work, work.operation.request);
  const result = {
    memory: snapshot.checkpoint !== null,
    frozenMs: numericNote(work, "frozenMs"),
    diskBytes: snapshot.diskBytes,
    checkpointBytes: snapshot.checkpoint?.storedBytes ?? 0,
  };
  const named = { id: snapshot.id, name: snapshot.name };
  return {
    sandbox: {},
    snapshots: [snapshot],
    events: [{ type: "sandbox.snapshotted", data: { snapshot: named, memory: result.memory } }],
    result: { snapshot: named, ...result },
  };
}

type Kept = Pick<CreateSnapshotRequest, "labels" | "pinned" | "expiresAt"> & { readonly rollbackOf?: string };

/** The record of what was copied under the ids in the notes. */
export function snapshotOf(work: Work, { labels = {}, pinned = false, expiresAt, rollbackOf }: Kept): SnapshotRecord {
  const { ports, sandbox, operation } = work;
  const { image, engine, resources, env, workdir, user, network } = sandbox;
  return {
    id: note(work, "snapshotId"),
    version: 0,
    name: note(work, "name"),
    source: { id: sandbox.id, name: sandbox.name },
    parentId: sandbox.snapshotId ?? null,
    image,
    engine,
    resources,
    env,
    workdir,
    user,
    network,
    checkpoint: (operation.notes.sealed ?? null) as SnapshotRecord["checkpoint"],
    diskId: note(work, "fromDiskId"),
    diskBytes: numericNote(work, "diskBytes"),
    labels,
    team: teamOf(sandbox),
    pinned,
    expiresAt: expiresAt ?? null,
    rollbackOf: rollbackOf ?? null,
    createdAt: ports.clock.now().toISOString(),
  };
}

/** Nothing changes on who has none. */
export function withoutRuntime({ sandbox }: Work): Partial<SandboxRecord> {
  return sandbox.runtimeId === null ? {} : { runtimeId: null };
}
