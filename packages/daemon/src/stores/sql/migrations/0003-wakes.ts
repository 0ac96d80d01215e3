import type { Kysely } from "kysely";
import { type DialectName, ordinal, text } from "../columns.ts";
import type { Schema } from "../schema.ts";

/** What resumes sandboxes, and what of it they have not been told yet. Both go with their sandbox. */
export async function up(database: Kysely<Schema>, dialect: DialectName): Promise<void> {
  await database.schema
    .createTable("wakes")
    .addColumn("ordinal", ...ordinal(dialect))
    .addColumn("id", text(dialect), (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("sandbox_id", text(dialect), (column) => column.notNull().references("sandboxes.id").onDelete("cascade"))
    .addColumn("token_hash", text(dialect))
    .addColumn("record", text(dialect), (column) => column.notNull())
    .execute();
  await database.schema.createIndex("wakes_id").on("wakes").column("id").unique().execute();
  await database.schema.createIndex("wakes_sandbox").on("wakes").columns(["sandbox_id", "ordinal"]).execute();
  await database.schema.createIndex("wakes_token").on("wakes").column("token_hash").unique().execute();

  await database.schema
    .createTable("wake_deliveries")
    .addColumn("ordinal", ...ordinal(dialect))
    .addColumn("id", text(dialect), (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("sandbox_id", text(dialect), (column) => column.notNull().references("sandboxes.id").onDelete("cascade"))
    .addColumn("record", text(dialect), (column) => column.notNull())
    // Up to 1.4 MB, so it is apart from what is rewritten with each stage.
    .addColumn("call", text(dialect))
    .execute();
  await database.schema.createIndex("wake_deliveries_id").on("wake_deliveries").column("id").unique().execute();
  await database.schema.createIndex("wake_deliveries_sandbox").on("wake_deliveries").columns(["sandbox_id", "ordinal"]).execute();
}
