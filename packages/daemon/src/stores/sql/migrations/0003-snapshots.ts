import type { Kysely } from "kysely";
import { type DialectName, text } from "../columns.ts";
import type { Schema } from "../schema.ts";

/** Names are unique by an index; `expires_at` is null for those that never expire, pinned ones too. */
export async function up(database: Kysely<Schema>, dialect: DialectName): Promise<void> {
  await database.schema
    .createTable("snapshots")
    .addColumn("id", text(dialect), (column) => column.primaryKey().notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("name", text(dialect), (column) => column.notNull())
    .addColumn("created_at", text(dialect), (column) => column.notNull())
    .addColumn("expires_at", text(dialect))
    .addColumn("record", text(dialect), (column) => column.notNull())
    .execute();
  await database.schema.createIndex("snapshots_name").on("snapshots").column("name").unique().execute();
  await database.schema.createIndex("snapshots_expiry").on("snapshots").column("expires_at").execute();
}
