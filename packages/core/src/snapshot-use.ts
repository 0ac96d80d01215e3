import { type RestoreRequest, TorporError } from "@torpor/contract";
import { snapshotNotFound, unreadableSnapshot } from "./lifecycle/refusals.ts";
import type { Ports } from "./ports/ports.ts";
import type { SandboxRecord, SnapshotRecord } from "./ports/store.ts";

export async function findSnapshot({ store }: Ports, idOrName: string): Promise<SnapshotRecord> {
  const found = await store.findSnapshot(idOrName);
  if (found === undefined) throw snapshotNotFound(idOrName);
  return found;
}

/** Whether what is made from it has its memory: as asked, else if there is one. Never less than was asked for. */
export function settleMemory({ engine }: Ports, snapshot: SnapshotRecord, asked: boolean | undefined): boolean {
  if (snapshot.damage !== undefined) throw unreadableSnapshot(snapshot);
  const { name, checkpoint } = snapshot;
  const memory = asked ?? checkpoint !== null;
  if (!memory) return false;
  const hint = "take its files only";
  if (checkpoint === null)
    throw new TorporError("checkpoint_incompatible", `snapshot ${name} has files only, there is no memory in it`, { hint });
  if (snapshot.engine !== engine.name)
    throw new TorporError(
      "checkpoint_incompatible",
      `the memory in snapshot ${name} is of engine ${snapshot.engine}, this is ${engine.name}`,
      {
        hint,
      },
    );
  return true;
}

/** The request that takes the last rebase back. */
export async function rollbackOf({ store }: Ports, { id, name, snapshotId }: SandboxRecord): Promise<RestoreRequest> {
  const kept = (await store.listSnapshots()).findLast(({ rollbackOf }) => rollbackOf === id);
  // Once: what was done since is not to be thrown away by a second call.
  if (kept !== undefined && kept.id !== snapshotId) return { snapshot: kept.id };
  throw new TorporError(
    "snapshot_not_found",
    `nothing is kept that takes a rebase of sandbox ${name} back: there was none, its time is over, or it is taken back already`,
  );
}
