import { type Snapshot, TorporError, type UpdateSnapshotRequest } from "@torpor/contract";
import { teamOf } from "./access/teams.ts";
import { describeError } from "./failure.ts";
import { changedLabels } from "./labels.ts";
import { unreadableSnapshot } from "./lifecycle/refusals.ts";
import { requireFuture } from "./operations/plan.ts";
import type { Ports } from "./ports/ports.ts";
import { type SnapshotRecord, StoreConflict } from "./ports/store.ts";
import { findSnapshot } from "./snapshot-use.ts";
import { snapshotView } from "./views.ts";

/** Records at rest: what is done to them is done when the call resolves. `idOrName` is of a snapshot. */
export interface Snapshots {
  get(idOrName: string): Promise<Snapshot>;
  /** Oldest first; all, or those of a team. */
  list(team?: string): Promise<Snapshot[]>;
  update(idOrName: string, request: UpdateSnapshotRequest): Promise<Snapshot>;
  remove(idOrName: string, request?: { readonly force?: boolean }): Promise<Snapshot>;
  /** Removes those whose time has come; the number of removed ones. */
  expire(): Promise<number>;
}

/** Looks again when somebody changed it in between; more often than that is a fault. */
const tries = 100;

export async function getSnapshot(ports: Ports, idOrName: string): Promise<Snapshot> {
  return snapshotView(await findSnapshot(ports, idOrName));
}

export async function listSnapshots(ports: Ports, team?: string): Promise<Snapshot[]> {
  const all = await ports.store.listSnapshots();
  return all.filter((record) => team === undefined || teamOf(record) === team).map(snapshotView);
}

export function updateSnapshot(ports: Ports, idOrName: string, { labels, pinned, expiresAt }: UpdateSnapshotRequest): Promise<Snapshot> {
  requireFuture(ports, expiresAt);
  return untilCurrent(ports, idOrName, async (record) => {
    if (record.damage !== undefined) throw unreadableSnapshot(record);
    const changed: SnapshotRecord = {
      ...record,
      labels: changedLabels(record.labels, labels),
      pinned: pinned ?? record.pinned,
      expiresAt: expiresAt === undefined ? record.expiresAt : expiresAt,
    };
    await ports.store.commit({ snapshots: [changed] });
    return snapshotView(changed);
  });
}

/** Takes the record away, then frees what it held: a kill in between leaves that to the sweep of the next start. */
export function removeSnapshot(ports: Ports, idOrName: string, { force = false }: { readonly force?: boolean }): Promise<Snapshot> {
  return untilCurrent(ports, idOrName, async (record) => {
    if (record.damage !== undefined && !force) throw unreadableSnapshot(record);
    if (record.pinned) throw pinned(record);
    await removeUnused(ports, record, "snapshot.removed");
    return snapshotView(record);
  });
}

/** Removes those that have expired, but for pinned ones and those that are in use at the moment; the number of removed ones. */
export async function expireSnapshots(ports: Ports): Promise<number> {
  let removed = 0;
  for (const record of await ports.store.listSnapshots({ expiredAt: ports.clock.now().toISOString() })) {
    // Of one that can't be read nobody knows what it says.
    if (record.damage !== undefined) continue;
    try {
      await removeUnused(ports, record, "snapshot.expired");
      removed++;
    } catch (error) {
      const inUse = error instanceof TorporError && error.code === "snapshot_in_use";
      if (!inUse && !(error instanceof StoreConflict)) throw error;
    }
  }
  return removed;
}

async function removeUnused(ports: Ports, record: SnapshotRecord, type: string): Promise<void> {
  const { id, name, source, checkpoint, diskId } = record;
  // Who begins to use it moves its version on in the same commit.
  const user = (await ports.store.runningOperations()).find(({ notes }) => notes.snapshotId === id);
  if (user !== undefined) {
    throw new TorporError(
      "snapshot_in_use",
      `snapshot ${name} is in use by operation ${user.id} (${user.kind}): retry when that has ended`,
      {
        details: { operation: user.id, kind: user.kind, sandbox: user.sandboxId },
      },
    );
  }
  const at = ports.clock.now().toISOString();
  const event = { sandboxId: source.id, operationId: null, type, data: { snapshot: { id, name } }, at };
  await ports.store.commit({ removedSnapshots: [record], events: [event] });
  const frees = [
    checkpoint === null ? undefined : ports.checkpoints.remove(checkpoint.id),
    diskId === "" ? undefined : ports.disks.remove(diskId),
  ];
  for (const freed of await Promise.allSettled(frees)) {
    if (freed.status === "rejected")
      ports.log.error("what a snapshot held could not be freed: the next start frees it", {
        snapshot: id,
        cause: describeError(freed.reason),
      });
  }
}

async function untilCurrent<T>(ports: Ports, idOrName: string, work: (record: SnapshotRecord) => Promise<T>): Promise<T> {
  for (let left = tries; ; left--) {
    try {
      return await work(await findSnapshot(ports, idOrName));
    } catch (error) {
      if (!(error instanceof StoreConflict) || left === 1) throw error;
    }
  }
}

function pinned({ name }: SnapshotRecord): TorporError {
  return new TorporError("snapshot_pinned", `snapshot ${name} is pinned`, { hint: `torpor snapshot unpin ${name}` });
}
