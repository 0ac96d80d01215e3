import type { Prune } from "@torpor/core";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { forgetEvents, forgetHorizons, giveUpOldDeliveries } from "./forget.ts";
import type { Schema } from "./schema.ts";

type Statement = (database: Kysely<Schema>, limit: number) => Promise<number>;

/** Statements in the order of what may go; each deletes no more than is left of the batch, in a transaction of its own. */
export async function prune(database: Kysely<Schema>, retention: Prune): Promise<number> {
  let deleted = 0;
  await giveUpOldDeliveries(database, retention);
  for (const statement of statements(retention)) {
    if (deleted >= retention.batch) break;
    deleted += await statement(database, retention.batch - deleted);
  }
  await forgetHorizons(database);
  return deleted;
}

function statements({ now, before, perSandbox }: Prune): readonly Statement[] {
  // An operation that a key answers with stays as long as the key.
  const free = sql`status <> 'running' and id not in (select operation_id from idempotency_keys)`;
  return [
    remove("idempotency_keys", sql`select ordinal from idempotency_keys where expires_at <= ${now}`),
    remove("credentials", sql`select ordinal from credentials where kind <> 'token' and expires_at <= ${now}`),
    remove("operations", sql`select ordinal from operations where ended_at < ${before} and ${free}`),
    remove(
      "operations",
      sql`select ordinal from (
        select ordinal, id, status, row_number() over (partition by sandbox_id order by ordinal desc) as place from operations
      ) as ranked where place > ${sql.lit(perSandbox)} and ${free}`,
    ),
    remove("deliveries", sql`select ordinal from deliveries where ended_at < ${before}`),
    remove(
      "deliveries",
      sql`select ordinal from (
        select ordinal, row_number() over (partition by webhook_id order by seq desc) as place from deliveries where status <> 'pending'
      ) as ranked where place > ${sql.lit(perSandbox)}`,
    ),
    (database, limit) => forgetEvents(database, sql`select seq from events where at < ${before} limit ${sql.lit(limit)}`),
    (database, limit) =>
      forgetEvents(
        database,
        sql`select seq from (
          select seq, row_number() over (partition by sandbox_id order by seq desc) as place from events
        ) as ranked where place > ${sql.lit(perSandbox)} limit ${sql.lit(limit)}`,
      ),
  ];
}

function remove(table: keyof Schema, doomed: RawBuilder<unknown>): Statement {
  return async (database, limit) => {
    const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ordinal in (${doomed} limit ${sql.lit(limit)})`.execute(
      database,
    );
    return Number(numAffectedRows ?? 0n);
  };
}
