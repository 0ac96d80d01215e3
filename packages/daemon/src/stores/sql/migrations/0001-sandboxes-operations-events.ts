import { type Kysely, sql } from "kysely";
import { type DialectName, ordinal, text } from "../columns.ts";
import type { Schema } from "../schema.ts";

/** One running operation a sandbox is a promise of the store, not of the process that happens to write. */
export async function up(database: Kysely<Schema>, dialect: DialectName): Promise<void> {
  await database.schema
    .createTable("sandboxes")
    .addColumn("id", text(dialect), (column) => column.primaryKey().notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("name", text(dialect), (column) => column.notNull())
    .addColumn("address", text(dialect))
    .addColumn("created_at", text(dialect), (column) => column.notNull())
    .addColumn("record", text(dialect), (column) => column.notNull())
    .execute();
  await database.schema.createIndex("sandboxes_name").on("sandboxes").column("name").unique().execute();
  await database.schema.createIndex("sandboxes_address").on("sandboxes").column("address").unique().execute();

  await database.schema
    .createTable("operations")
    .addColumn("ordinal", ...ordinal(dialect))
    .addColumn("id", text(dialect), (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("sandbox_id", text(dialect), (column) => column.notNull())
    .addColumn("status", text(dialect), (column) => column.notNull())
    .addColumn("record", text(dialect), (column) => column.notNull())
    .execute();
  await database.schema.createIndex("operations_id").on("operations").column("id").unique().execute();
  await database.schema.createIndex("operations_sandbox").on("operations").columns(["sandbox_id", "ordinal"]).execute();
  await database.schema
    .createIndex("operations_one_running")
    .on("operations")
    .column("sandbox_id")
    .unique()
    .where(sql.ref("status"), "=", sql.lit("running"))
    .execute();

  await database.schema
    .createTable("events")
    .addColumn("seq", ...ordinal(dialect))
    .addColumn("sandbox_id", text(dialect), (column) => column.notNull())
    .addColumn("operation_id", text(dialect))
    .addColumn("type", text(dialect), (column) => column.notNull())
    .addColumn("data", text(dialect), (column) => column.notNull())
    .addColumn("at", text(dialect), (column) => column.notNull())
    .execute();
  await database.schema.createIndex("events_sandbox").on("events").columns(["sandbox_id", "seq"]).execute();
}
