import type { Change, UsageRecord } from "@torpor/core";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "./schema.ts";

export async function listUsage(database: Kysely<Schema>): Promise<UsageRecord[]> {
  const rows = await database.selectFrom("usage").select("record").orderBy("sandbox_id").execute();
  return rows.map(({ record }) => JSON.parse(record) as UsageRecord);
}

/** Whole meters, so that a change that is written twice counts once. */
export async function writeUsage(transaction: Transaction<Schema>, { usage = [], forgottenUsage = [] }: Change): Promise<void> {
  for (const record of usage) {
    const row = { sandbox_id: record.sandboxId, record: JSON.stringify(record) };
    await transaction
      .insertInto("usage")
      .values(row)
      .onConflict((conflict) => conflict.column("sandbox_id").doUpdateSet({ record: row.record }))
      .execute();
  }
  for (const id of forgottenUsage) await transaction.deleteFrom("usage").where("sandbox_id", "=", id).execute();
}
