import type { Prune } from "@torpor/core";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { deliveryRow, readDelivery } from "./deliveries.ts";
import type { Schema } from "./schema.ts";

/** Deletes the events that a query names, and notes up to where, for all and for each sandbox. */
export async function forgetEvents(database: Kysely<Schema>, doomed: RawBuilder<{ seq: number }>): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const seqs = (await doomed.execute(transaction)).rows.map(({ seq }) => Number(seq));
    if (seqs.length === 0) return 0;
    for (const whose of [sql`sandbox_id`, sql`''`]) {
      await sql`insert into event_horizons (sandbox_id, seq) select ${whose}, max(seq) from events where seq in (${sql.join(seqs)}) group by 1
        on conflict (sandbox_id) do update set seq = excluded.seq where excluded.seq > event_horizons.seq`.execute(transaction);
    }
    await transaction.deleteFrom("events").where("seq", "in", seqs).execute();
    return seqs.length;
  });
}

/** Of sandboxes that are gone with all their events, nobody asks for more. */
export async function forgetHorizons(database: Kysely<Schema>): Promise<void> {
  await sql`delete from event_horizons where sandbox_id <> ''
    and sandbox_id not in (select sandbox_id from events) and sandbox_id not in (select id from sandboxes)`.execute(database);
}

/** What waited too long for its webhook is given up, and shown as such until it is forgotten. */
export async function giveUpOldDeliveries(database: Kysely<Schema>, { now, undeliveredBefore, batch }: Prune): Promise<void> {
  const rows = await database
    .selectFrom("deliveries")
    .select("record")
    .where("status", "=", "pending")
    .where("created_at", "<", undeliveredBefore)
    .limit(batch)
    .execute();
  for (const delivery of rows.flatMap(readDelivery)) {
    const { webhook_id, seq, ...row } = deliveryRow({ ...delivery, status: "dead", lastError: "it was kept too long", endedAt: now });
    await database.updateTable("deliveries").set(row).where("webhook_id", "=", webhook_id).where("seq", "=", seq).execute();
  }
}
