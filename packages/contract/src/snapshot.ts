import { z } from "zod";
import { Environment, Failure, LabelChanges, Labels, NetworkMode, Resources, Sandbox, SandboxName } from "./sandbox.ts";

/** A kept point: files, and the memory and processes of the same instant if it has a checkpoint. Nothing that it came from has to be there any more. */
export const Snapshot = z.object({
  id: z.string(),
  name: z.string(),
  /** The sandbox it was taken of; that may be gone. */
  source: z.object({ id: z.string(), name: z.string() }),
  /** The snapshot that its source was made from or last restored to; that may be gone. */
  parentId: z.string().nullable(),
  image: Sandbox.shape.image,
  engine: z.string(),
  resources: Resources,
  env: Environment,
  workdir: z.string().nullable(),
  user: z.string().nullable(),
  network: NetworkMode,
  /** Its memory; null: files only. */
  checkpoint: Sandbox.shape.checkpoint,
  /** Bytes of its disk on the pool, those that it shares with relatives counted too. */
  diskBytes: z.number(),
  labels: Labels,
  /** That of its source. Absent: `default`. */
  team: z.string().optional(),
  /** A pinned one neither expires nor can be removed. */
  pinned: z.boolean(),
  expiresAt: z.iso.datetime().nullable(),
  /** The sandbox whose rebase it takes back. */
  rollbackOf: z.string().nullable(),
  /** Set when its stored record can't be read: nothing can be made from it. */
  failure: Failure.nullable(),
  createdAt: z.iso.datetime(),
});
export type Snapshot = z.infer<typeof Snapshot>;

export const SnapshotList = z.object({ snapshots: z.array(Snapshot) });

export const CreateSnapshotRequest = z.strictObject({
  /** As sandboxes have them; unlike that of any other snapshot. Default: a generated one. */
  name: SandboxName.optional(),
  /** Default true. false keeps files only. */
  memory: z.boolean().optional(),
  labels: Labels.optional(),
  pinned: z.boolean().optional(),
  /** Removed after that time, unless it is pinned. Default: never. */
  expiresAt: z.iso.datetime().optional(),
});
export type CreateSnapshotRequest = z.infer<typeof CreateSnapshotRequest>;

export const UpdateSnapshotRequest = z.strictObject({
  /** Merged with those it has; null takes one away. */
  labels: LabelChanges.optional(),
  pinned: z.boolean().optional(),
  /** null: never. */
  expiresAt: z.iso.datetime().nullable().optional(),
});
export type UpdateSnapshotRequest = z.infer<typeof UpdateSnapshotRequest>;

export const RestoreRequest = z.strictObject({
  /** Id or name of the snapshot. */
  snapshot: z.string().min(1).max(63),
  /** Default: with the memory if the snapshot has one. false: files only. true: refused if it has none. */
  memory: z.boolean().optional(),
});
export type RestoreRequest = z.infer<typeof RestoreRequest>;

export const RebaseRequest = z.strictObject({
  /** Reference or digest of an image that is here. */
  image: z.string().min(1).max(512),
  /** How long the state before is kept for a rollback. Default 7 days. */
  rollbackMs: z
    .number()
    .int()
    .min(1000)
    .max(365 * 24 * 60 * 60 * 1000)
    .optional(),
});
export type RebaseRequest = z.infer<typeof RebaseRequest>;

export const RollbackRequest = z.strictObject({});

/** `result` of a snapshot. */
export const SnapshotResult = z.object({
  snapshot: z.object({ id: z.string(), name: z.string() }),
  memory: z.boolean(),
  frozenMs: z.number(),
  diskBytes: z.number(),
  checkpointBytes: z.number(),
});
