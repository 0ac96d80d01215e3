import type { Kysely } from "kysely";
import { type DialectName, text } from "../columns.ts";
import type { Schema } from "../schema.ts";

/** Meters of sandboxes, also of removed ones: they refer to no row. */
export async function up(database: Kysely<Schema>, dialect: DialectName): Promise<void> {
  await database.schema
    .createTable("usage")
    .addColumn("sandbox_id", text(dialect), (column) => column.primaryKey().notNull())
    .addColumn("record", text(dialect), (column) => column.notNull())
    .execute();
}
