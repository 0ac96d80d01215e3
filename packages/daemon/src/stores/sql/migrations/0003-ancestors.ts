import type { Kysely } from "kysely";
import { type DialectName, text } from "../columns.ts";
import type { Schema } from "../schema.ts";

/** Parents as a column, and what is kept of a removed one as long as others come from it. */
export async function up(database: Kysely<Schema>, dialect: DialectName): Promise<void> {
  await database.schema.alterTable("sandboxes").addColumn("parent_id", text(dialect)).execute();
  await fillParents(database);
  await database.schema.createIndex("sandboxes_parent").on("sandboxes").column("parent_id").execute();
  await database.schema
    .createTable("ancestors")
    .addColumn("id", text(dialect), (column) => column.primaryKey().notNull())
    .addColumn("parent_id", text(dialect))
    .addColumn("record", text(dialect), (column) => column.notNull())
    .execute();
  await database.schema.createIndex("ancestors_parent").on("ancestors").column("parent_id").execute();
}

/** Read here rather than by SQL: the dialects read JSON differently, and PostgreSQL refuses text with NUL in it. */
async function fillParents(database: Kysely<Schema>): Promise<void> {
  for (const { id, record } of await database.selectFrom("sandboxes").select(["id", "record"]).execute()) {
    await database
      .updateTable("sandboxes")
      .set({ parent_id: parentOf(record) })
      .where("id", "=", id)
      .execute();
  }
}

function parentOf(record: string): string | null {
  try {
    const { parentId } = JSON.parse(record) as { parentId?: unknown };
    return typeof parentId === "string" ? parentId : null;
  } catch {
    return null;
  }
}
