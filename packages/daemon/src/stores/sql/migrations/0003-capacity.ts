import { holdingOf, type SandboxRecord } from "@torpor/core";
import type { Kysely } from "kysely";
import type { DialectName } from "../columns.ts";
import type { Schema } from "../schema.ts";

/** What sandboxes hold of the node, so that the database can sum it up. */
export async function up(database: Kysely<Schema>, dialect: DialectName): Promise<void> {
  const bytes = dialect === "sqlite" ? "integer" : "bigint";
  const fraction = dialect === "sqlite" ? "real" : "double precision";
  for (const [name, type] of [
    ["held_memory", bytes],
    ["held_cpus", fraction],
    ["held_disk", bytes],
  ] as const) {
    await database.schema
      .alterTable("sandboxes")
      .addColumn(name, type, (column) => column.notNull().defaultTo(0))
      .execute();
  }
  await fill(database);
}

/** Read here rather than by SQL: what a sandbox holds is decided in one place. */
async function fill(database: Kysely<Schema>): Promise<void> {
  for (const { id, record } of await database.selectFrom("sandboxes").select(["id", "record"]).execute()) {
    const held = heldBy(record);
    if (held === undefined) continue;
    const { memoryBytes, cpus, diskBytes } = held;
    await database
      .updateTable("sandboxes")
      .set({ held_memory: memoryBytes, held_cpus: cpus, held_disk: diskBytes })
      .where("id", "=", id)
      .execute();
  }
}

/** A record that can't be read holds nothing: it is failed, and can only be removed. */
function heldBy(record: string): ReturnType<typeof holdingOf> | undefined {
  try {
    const held = holdingOf(JSON.parse(record) as SandboxRecord);
    return Object.values(held).every(Number.isFinite) ? held : undefined;
  } catch {
    return undefined;
  }
}
