import type { Kysely } from "kysely";
import { type DialectName, ordinal, text } from "../columns.ts";
import type { Schema } from "../schema.ts";

/** Rows that are rewritten at a time. */
const batch = 500;

/** Idempotency keys, the end of an operation as a column so that old ones are found, and settings of the store itself. */
export async function up(database: Kysely<Schema>, dialect: DialectName): Promise<void> {
  await database.schema
    .createTable("idempotency_keys")
    .addColumn("ordinal", ...ordinal(dialect))
    .addColumn("scope", text(dialect), (column) => column.notNull())
    .addColumn("key", text(dialect), (column) => column.notNull())
    .addColumn("fingerprint", text(dialect), (column) => column.notNull())
    .addColumn("operation_id", text(dialect), (column) => column.notNull())
    .addColumn("created_at", text(dialect), (column) => column.notNull())
    .addColumn("expires_at", text(dialect), (column) => column.notNull())
    .execute();
  await database.schema.createIndex("idempotency_keys_key").on("idempotency_keys").columns(["scope", "key"]).unique().execute();
  await database.schema.createIndex("idempotency_keys_expiry").on("idempotency_keys").column("expires_at").execute();

  await database.schema.alterTable("operations").addColumn("ended_at", text(dialect)).execute();
  await database.schema.createIndex("operations_end").on("operations").column("ended_at").execute();
  await fillEnds(database);
  await database.schema.createIndex("events_at").on("events").column("at").execute();

  await database.schema
    .createTable("settings")
    .addColumn("name", text(dialect), (column) => column.primaryKey().notNull())
    .addColumn("value", text(dialect), (column) => column.notNull())
    .execute();
}

/** Read here rather than by SQL: the dialects read JSON differently, and PostgreSQL refuses text with NUL in it. */
async function fillEnds(database: Kysely<Schema>): Promise<void> {
  let after = 0;
  for (;;) {
    const rows = await database
      .selectFrom("operations")
      .select(["ordinal", "record"])
      .where("ordinal", ">", after)
      .where("status", "<>", "running")
      .orderBy("ordinal")
      .limit(batch)
      .execute();
    if (rows.length === 0) return;
    for (const row of rows) {
      after = row.ordinal;
      await database
        .updateTable("operations")
        .set({ ended_at: endOf(row.record) })
        .where("ordinal", "=", row.ordinal)
        .execute();
    }
  }
}

/** A record that can't be read has no end, and is deleted with its sandbox's oldest. */
function endOf(record: string): string | null {
  try {
    const { endedAt } = JSON.parse(record) as { endedAt?: unknown };
    return typeof endedAt === "string" ? endedAt : null;
  } catch {
    return null;
  }
}
