import { type Change, type PlacedWakeup, StoreConflict, type WakeCall, type WakeRecord, type WakeupRecord } from "@torpor/core";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "./schema.ts";

export async function listWakes(database: Kysely<Schema>, sandboxId?: string): Promise<WakeRecord[]> {
  let query = database.selectFrom("wakes").selectAll().orderBy("ordinal");
  if (sandboxId !== undefined) query = query.where("sandbox_id", "=", sandboxId);
  return (await query.execute()).map(wakeOf);
}

export async function findWake(database: Kysely<Schema>, by: "id" | "token_hash", value: string): Promise<WakeRecord | undefined> {
  const row = await database.selectFrom("wakes").selectAll().where(by, "=", value).executeTakeFirst();
  return row && wakeOf(row);
}

export async function nextWakeup(database: Kysely<Schema>, sandboxId: string): Promise<PlacedWakeup | undefined> {
  const row = await database
    .selectFrom("wake_deliveries")
    .selectAll()
    .where("sandbox_id", "=", sandboxId)
    .orderBy("ordinal")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const call = row.call === null ? null : (JSON.parse(row.call) as WakeCall);
  return { ...(JSON.parse(row.record) as WakeupRecord), version: row.version, call, seq: row.ordinal };
}

export async function countWakeups(database: Kysely<Schema>): Promise<ReadonlyMap<string, number>> {
  const rows = await database
    .selectFrom("wake_deliveries")
    .select(({ fn }) => ["sandbox_id", fn.countAll().as("count")])
    .groupBy("sandbox_id")
    .execute();
  return new Map(rows.map(({ sandbox_id, count }) => [sandbox_id, Number(count)]));
}

/** Wakes before wakeups: whoever fires one writes both. */
export async function writeWakes(transaction: Transaction<Schema>, change: Change): Promise<void> {
  const { wakes = [], endedWakes = [], wakeups = [], endedWakeups = [] } = change;
  for (const record of wakes) await writeRow(transaction, "wakes", record, { ...wakeRow(record) });
  for (const record of endedWakes) await deleteRow(transaction, "wakes", record);
  for (const record of wakeups) {
    const call = record.version > 0 ? {} : { call: record.call === null ? null : JSON.stringify(record.call) };
    await writeRow(transaction, "wake_deliveries", record, { ...deliveryRow(record), ...call });
  }
  for (const record of endedWakeups) await deleteRow(transaction, "wake_deliveries", record);
}

/** Whether the first wake or delivery that a change wrote is there as it was written. */
export async function wakesApplied(database: Kysely<Schema>, { wakes = [], wakeups = [] }: Change): Promise<boolean | undefined> {
  const [wake] = wakes;
  if (wake !== undefined) return isThere(await rowOf(database, "wakes", wake.id), wakeRow(wake));
  const [delivery] = wakeups;
  return delivery && isThere(await rowOf(database, "wake_deliveries", delivery.id), deliveryRow(delivery));
}

type Table = "wakes" | "wake_deliveries";
type Versioned = Pick<WakeRecord, "id" | "version">;
interface Row {
  readonly version: number;
  readonly record: string;
}

function wakeOf({ version, record }: Row): WakeRecord {
  return { ...(JSON.parse(record) as WakeRecord), version };
}

function wakeRow(record: WakeRecord) {
  const { id, version, sandboxId, tokenHash } = record;
  return { id, version: version + 1, sandbox_id: sandboxId, token_hash: tokenHash, record: JSON.stringify(record) };
}

function deliveryRow({ call: _call, ...record }: WakeupRecord) {
  const { id, version, sandboxId } = record;
  return { id, version: version + 1, sandbox_id: sandboxId, record: JSON.stringify(record) };
}

async function writeRow(transaction: Transaction<Schema>, table: Table, { id, version }: Versioned, row: object): Promise<void> {
  if (version === 0) {
    await transaction
      .insertInto(table)
      .values(row as never)
      .execute();
    return;
  }
  const { numUpdatedRows } = await transaction
    .updateTable(table)
    .set(row as never)
    .where("id", "=", id)
    .where("version", "=", version)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw stale(table, id);
}

async function deleteRow(transaction: Transaction<Schema>, table: Table, { id, version }: Versioned): Promise<void> {
  const { numDeletedRows } = await transaction.deleteFrom(table).where("id", "=", id).where("version", "=", version).executeTakeFirst();
  if (numDeletedRows !== 1n) throw stale(table, id);
}

function rowOf(database: Kysely<Schema>, table: Table, id: string): Promise<Row | undefined> {
  return database.selectFrom(table).select(["version", "record"]).where("id", "=", id).executeTakeFirst();
}

function isThere(row: Row | undefined, written: Row): boolean {
  return row !== undefined && row.version === written.version && row.record === written.record;
}

function stale(table: Table, id: string): StoreConflict {
  return new StoreConflict("stale", `${id} of ${table} was changed or is gone`);
}
