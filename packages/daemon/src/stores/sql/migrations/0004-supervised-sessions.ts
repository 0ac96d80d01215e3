import type { Kysely } from "kysely";
import { type DialectName, ordinal, text } from "../columns.ts";
import type { Schema } from "../schema.ts";

/** Sessions whose processes are kept running. They go with their sandbox; the child of a fork has some of the same ids. */
export async function up(database: Kysely<Schema>, dialect: DialectName): Promise<void> {
  await database.schema
    .createTable("supervised_sessions")
    .addColumn("ordinal", ...ordinal(dialect))
    .addColumn("id", text(dialect), (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("sandbox_id", text(dialect), (column) => column.notNull().references("sandboxes.id").onDelete("cascade"))
    .addColumn("record", text(dialect), (column) => column.notNull())
    .execute();
  await database.schema.createIndex("supervised_sessions_id").on("supervised_sessions").columns(["sandbox_id", "id"]).unique().execute();
}
