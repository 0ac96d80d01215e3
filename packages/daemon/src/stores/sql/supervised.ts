import { type Change, StoreConflict, type SupervisedRecord } from "@torpor/core";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "./schema.ts";

export async function listSupervised(database: Kysely<Schema>, sandboxId?: string): Promise<SupervisedRecord[]> {
  let query = database.selectFrom("supervised_sessions").selectAll().orderBy("ordinal");
  if (sandboxId !== undefined) query = query.where("sandbox_id", "=", sandboxId);
  return (await query.execute()).map(recordOf);
}

export async function findSupervised(database: Kysely<Schema>, sandboxId: string, id: string): Promise<SupervisedRecord | undefined> {
  const row = await database
    .selectFrom("supervised_sessions")
    .selectAll()
    .where("sandbox_id", "=", sandboxId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row && recordOf(row);
}

export async function writeSupervised(transaction: Transaction<Schema>, { supervised = [], endedSupervised = [] }: Change): Promise<void> {
  for (const record of supervised) await write(transaction, record);
  for (const { sandboxId, id, version } of endedSupervised) {
    const { numDeletedRows } = await transaction
      .deleteFrom("supervised_sessions")
      .where("sandbox_id", "=", sandboxId)
      .where("id", "=", id)
      .where("version", "=", version)
      .executeTakeFirst();
    if (numDeletedRows !== 1n) throw stale(id);
  }
}

/** Whether the first record that a change wrote is there as it was written. */
export async function supervisedApplied(database: Kysely<Schema>, { supervised = [] }: Change): Promise<boolean | undefined> {
  const [first] = supervised;
  if (first === undefined) return undefined;
  const found = await findSupervised(database, first.sandboxId, first.id);
  return found?.version === first.version + 1 && JSON.stringify({ ...found, version: first.version }) === JSON.stringify(first);
}

async function write(transaction: Transaction<Schema>, record: SupervisedRecord): Promise<void> {
  const { sandboxId, id, version } = record;
  const row = { id, version: version + 1, sandbox_id: sandboxId, record: JSON.stringify(record) };
  if (version === 0) {
    await transaction.insertInto("supervised_sessions").values(row).execute();
    return;
  }
  const { numUpdatedRows } = await transaction
    .updateTable("supervised_sessions")
    .set(row)
    .where("sandbox_id", "=", sandboxId)
    .where("id", "=", id)
    .where("version", "=", version)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw stale(id);
}

function recordOf({ version, record }: { readonly version: number; readonly record: string }): SupervisedRecord {
  return { ...(JSON.parse(record) as SupervisedRecord), version };
}

function stale(id: string): StoreConflict {
  return new StoreConflict("stale", `the supervised session ${id} was changed or is gone`);
}
