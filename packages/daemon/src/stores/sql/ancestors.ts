import { type AncestorRecord, ancestorOf, type SandboxRecord } from "@torpor/core";
import { type Kysely, sql, type Transaction } from "kysely";
import type { Schema } from "./schema.ts";

export async function listAncestors(database: Kysely<Schema>): Promise<AncestorRecord[]> {
  const rows = await database.selectFrom("ancestors").select("record").orderBy("id").execute();
  return rows.map(({ record }) => JSON.parse(record) as AncestorRecord);
}

/** Of removed sandboxes those stay that others come from; then those go whose last descendant was among the removed. */
export async function keepAncestors(transaction: Transaction<Schema>, removed: readonly SandboxRecord[]): Promise<void> {
  if (removed.length === 0) return;
  for (const record of removed) {
    const ancestor = ancestorOf(record);
    await transaction
      .insertInto("ancestors")
      .values({ id: ancestor.id, parent_id: ancestor.parentId, record: JSON.stringify(ancestor) })
      .execute();
  }
  for (let deleted = 1n; deleted > 0n; ) {
    const result = await sql`delete from ancestors
      where not exists (select 1 from sandboxes where sandboxes.parent_id = ancestors.id)
      and not exists (select 1 from ancestors as younger where younger.parent_id = ancestors.id)`.execute(transaction);
    deleted = result.numAffectedRows ?? 0n;
  }
}
