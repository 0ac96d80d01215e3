import { type Kysely, sql } from "kysely";
import { type DialectName, ordinal, text } from "../columns.ts";
import type { Schema } from "../schema.ts";

/** What lets callers in who do not come by the socket. With a token go the sessions and codes that come from it. */
export async function up(database: Kysely<Schema>, dialect: DialectName): Promise<void> {
  await database.schema
    .createTable("credentials")
    .addColumn("ordinal", ...ordinal(dialect))
    .addColumn("id", text(dialect), (column) => column.notNull().unique())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("kind", text(dialect), (column) => column.notNull())
    .addColumn("hash", text(dialect), (column) => column.notNull())
    .addColumn("token_id", text(dialect), (column) => column.references("credentials.id").onDelete("cascade"))
    .addColumn("name", text(dialect), (column) => column.notNull())
    .addColumn("expires_at", text(dialect))
    .addColumn("record", text(dialect), (column) => column.notNull())
    .execute();
  await database.schema.createIndex("credentials_hash").on("credentials").column("hash").unique().execute();
  await database.schema.createIndex("credentials_token").on("credentials").columns(["token_id", "ordinal"]).execute();
  await database.schema
    .createIndex("credentials_name")
    .on("credentials")
    .column("name")
    .unique()
    .where(sql.ref("kind"), "=", sql.lit("token"))
    .execute();
}
