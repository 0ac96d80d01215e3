import type { Prune } from "@torpor/core";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "./schema.ts";

/** Statements in the order of what may go; each deletes no more than is left of the batch, in a transaction of its own. */
export async function prune(database: Kysely<Schema>, retention: Prune): Promise<number> {
  let deleted = 0;
  for (const statement of statements(retention)) {
    if (deleted >= retention.batch) break;
    const { numAffectedRows } = await statement(retention.batch - deleted).execute(database);
    deleted += Number(numAffectedRows ?? 0n);
  }
  return deleted;
}

function statements({ now, before, perSandbox }: Prune): readonly ((limit: number) => RawBuilder<unknown>)[] {
  // An operation that a key answers with stays as long as the key.
  const free = sql`status <> 'running' and id not in (select operation_id from idempotency_keys)`;
  return [
    (limit) => sql`delete from idempotency_keys where ordinal in (
      select ordinal from idempotency_keys where expires_at <= ${now} limit ${sql.lit(limit)})`,
    (limit) => sql`delete from operations where ordinal in (
      select ordinal from operations where ended_at < ${before} and ${free} limit ${sql.lit(limit)})`,
    (limit) => sql`delete from operations where ordinal in (
      select ordinal from (
        select ordinal, id, status, row_number() over (partition by sandbox_id order by ordinal desc) as place from operations
      ) as ranked where place > ${sql.lit(perSandbox)} and ${free} limit ${sql.lit(limit)})`,
    (limit) => sql`delete from events where seq in (
      select seq from events where at < ${before} limit ${sql.lit(limit)})`,
    (limit) => sql`delete from events where seq in (
      select seq from (
        select seq, row_number() over (partition by sandbox_id order by seq desc) as place from events
      ) as ranked where place > ${sql.lit(perSandbox)} limit ${sql.lit(limit)})`,
  ];
}
