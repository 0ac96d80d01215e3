import type { Kysely } from "kysely";
import { type DialectName, text } from "../columns.ts";
import type { Schema } from "../schema.ts";

/** What a call with a key was answered with, where no operation tells. */
export async function up(database: Kysely<Schema>, dialect: DialectName): Promise<void> {
  await database.schema.alterTable("idempotency_keys").addColumn("answer", text(dialect)).execute();
}
