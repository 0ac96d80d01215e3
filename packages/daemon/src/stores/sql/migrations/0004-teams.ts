import { defaultTeam } from "@torpor/contract";
import type { Kysely } from "kysely";
import { type DialectName, text } from "../columns.ts";
import type { Schema } from "../schema.ts";

/** What is settled for teams, and whose sandboxes are, so that the database can sum up what a team holds. */
export async function up(database: Kysely<Schema>, dialect: DialectName): Promise<void> {
  await database.schema
    .createTable("teams")
    .addColumn("name", text(dialect), (column) => column.primaryKey().notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("record", text(dialect), (column) => column.notNull())
    .execute();
  // Whatever there is comes from a time without teams.
  await database.schema
    .alterTable("sandboxes")
    .addColumn("team", text(dialect), (column) => column.notNull().defaultTo(defaultTeam))
    .execute();
  await database.schema.createIndex("sandboxes_team").on("sandboxes").column("team").execute();
}
