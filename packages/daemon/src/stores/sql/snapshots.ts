import { type Change, type SnapshotRecord, StoreConflict } from "@torpor/core";
import type { Kysely, Transaction } from "kysely";
import { readSnapshot } from "./records.ts";
import type { Schema, SnapshotRow } from "./schema.ts";

export async function findSnapshot(database: Kysely<Schema>, idOrName: string): Promise<SnapshotRecord | undefined> {
  // No name looks like an id: at most one row has either.
  const row = await database
    .selectFrom("snapshots")
    .selectAll()
    .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
    .executeTakeFirst();
  return row && readSnapshot(row);
}

export async function listSnapshots(database: Kysely<Schema>, { expiredAt }: { expiredAt?: string } = {}): Promise<SnapshotRecord[]> {
  let query = database.selectFrom("snapshots").selectAll();
  if (expiredAt !== undefined) query = query.where("expires_at", "<=", expiredAt);
  return (await query.orderBy("created_at").orderBy("id").execute()).map(readSnapshot);
}

/** The part of a change that is about snapshots. */
export async function applySnapshots(transaction: Transaction<Schema>, { snapshots = [], removedSnapshots = [] }: Change): Promise<void> {
  for (const record of removedSnapshots) await deleteSnapshot(transaction, record);
  for (const record of snapshots) await writeSnapshot(transaction, record);
}

/** Compare-and-set by version; version 0 is an insert. */
async function writeSnapshot(transaction: Transaction<Schema>, record: SnapshotRecord): Promise<void> {
  const row = snapshotRow(record);
  if (record.version === 0) {
    await transaction.insertInto("snapshots").values(row).execute();
    return;
  }
  const updated = transaction.updateTable("snapshots").set(row);
  const { numUpdatedRows } = await updated.where("id", "=", record.id).where("version", "=", record.version).executeTakeFirst();
  if (numUpdatedRows !== 1n) throw stale(record);
}

async function deleteSnapshot(transaction: Transaction<Schema>, record: SnapshotRecord): Promise<void> {
  const deleted = transaction.deleteFrom("snapshots").where("id", "=", record.id).where("version", "=", record.version);
  const { numDeletedRows } = await deleted.executeTakeFirst();
  if (numDeletedRows !== 1n) throw stale(record);
}

export function snapshotRow({ damage: _damage, ...record }: SnapshotRecord): SnapshotRow {
  const { id, version, name, createdAt, expiresAt, pinned } = record;
  const expires_at = pinned ? null : expiresAt;
  return { id, version: version + 1, name, created_at: createdAt, expires_at, record: JSON.stringify(record) };
}

function stale({ id, version }: SnapshotRecord): StoreConflict {
  return new StoreConflict("stale", `snapshot ${id} is not at version ${version} any more`);
}
