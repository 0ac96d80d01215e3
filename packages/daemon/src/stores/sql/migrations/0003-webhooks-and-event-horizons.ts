import { type Kysely, sql } from "kysely";
import { type DialectName, ordinal, text } from "../columns.ts";
import type { Schema } from "../schema.ts";

/** Webhooks, their outbox, and up to where events were deleted, so that a reader can be told that it missed some. */
export async function up(database: Kysely<Schema>, dialect: DialectName): Promise<void> {
  await database.schema
    .createTable("webhooks")
    .addColumn("ordinal", ...ordinal(dialect))
    .addColumn("id", text(dialect), (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("secret", text(dialect), (column) => column.notNull())
    .addColumn("record", text(dialect), (column) => column.notNull())
    .execute();
  await database.schema.createIndex("webhooks_id").on("webhooks").column("id").unique().execute();

  await database.schema
    .createTable("deliveries")
    .addColumn("ordinal", ...ordinal(dialect))
    .addColumn("webhook_id", text(dialect), (column) => column.notNull())
    .addColumn("seq", dialect === "sqlite" ? "integer" : "bigint", (column) => column.notNull())
    .addColumn("sandbox_id", text(dialect), (column) => column.notNull())
    .addColumn("status", text(dialect), (column) => column.notNull())
    .addColumn("created_at", text(dialect), (column) => column.notNull())
    .addColumn("next_at", text(dialect), (column) => column.notNull())
    .addColumn("ended_at", text(dialect))
    .addColumn("record", text(dialect), (column) => column.notNull())
    .execute();
  await database.schema.createIndex("deliveries_event").on("deliveries").columns(["webhook_id", "seq"]).unique().execute();
  await database.schema.createIndex("deliveries_end").on("deliveries").column("ended_at").execute();
  await database.schema
    .createIndex("deliveries_pending")
    .on("deliveries")
    .columns(["webhook_id", "sandbox_id", "seq"])
    .where(sql.ref("status"), "=", sql.lit("pending"))
    .execute();

  await database.schema
    .createTable("event_horizons")
    .addColumn("sandbox_id", text(dialect), (column) => column.primaryKey().notNull())
    .addColumn("seq", dialect === "sqlite" ? "integer" : "bigint", (column) => column.notNull())
    .execute();
  // What was deleted by earlier versions is known by what is left: nobody can have a number of a sandbox's event that is lower than its first.
  await sql`insert into event_horizons select sandbox_id, min(seq) - 1 from events group by sandbox_id`.execute(database);
  await sql`insert into event_horizons select '', min(seq) - 1 from events having min(seq) is not null`.execute(database);
}
