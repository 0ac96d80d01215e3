import { Delivery, type DeliveryStatus, type Event } from "@torpor/contract";
import {
  type DeliveryCount,
  type DeliveryRecord,
  deliveriesOf,
  type Facts,
  type SandboxRecord,
  teamOf,
  type WebhookRecord,
} from "@torpor/core";
import type { Kysely, Transaction } from "kysely";
import { z } from "zod";
import type { DeliveryRow, Schema } from "./schema.ts";
import { listWebhooks, parse } from "./webhooks.ts";

const shape = Delivery.extend({ nextAt: z.string(), body: z.string() });

/** Writes what an event sets on its way. `known`: sandboxes of the same change, as they are in it. */
export class OutboxWriter {
  readonly #transaction: Transaction<Schema>;
  readonly #known: readonly SandboxRecord[];
  #webhooks: readonly WebhookRecord[] | undefined;

  constructor(transaction: Transaction<Schema>, known: readonly SandboxRecord[]) {
    this.#transaction = transaction;
    this.#known = known;
  }

  async add(event: Event): Promise<void> {
    this.#webhooks ??= await listWebhooks(this.#transaction);
    const choosy = this.#webhooks.some(({ labels, team }) => Object.keys(labels).length > 0 || (team ?? null) !== null);
    const deliveries = deliveriesOf(this.#webhooks, event, choosy ? await this.#facts(event.sandboxId) : { labels: {}, team: undefined });
    if (deliveries.length > 0) await this.#transaction.insertInto("deliveries").values(deliveries.map(deliveryRow)).execute();
  }

  async #facts(sandboxId: string): Promise<Facts> {
    const known = this.#known.find(({ id }) => id === sandboxId) ?? (await this.#stored(sandboxId));
    return known === undefined ? { labels: {}, team: undefined } : { labels: known.labels ?? {}, team: teamOf(known) };
  }

  async #stored(sandboxId: string): Promise<Partial<SandboxRecord> | undefined> {
    const row = await this.#transaction.selectFrom("sandboxes").select("record").where("id", "=", sandboxId).executeTakeFirst();
    return row && (parse(row.record) as Partial<SandboxRecord> | undefined);
  }
}

/** The webhook may be gone meanwhile, and the delivery with it. */
export async function updateDelivery(transaction: Transaction<Schema>, delivery: DeliveryRecord): Promise<void> {
  await transaction
    .updateTable("deliveries")
    .set(deliveryRow(delivery))
    .where("webhook_id", "=", delivery.webhookId)
    .where("seq", "=", delivery.seq)
    .execute();
}

export async function firstDeliveries(
  database: Kysely<Schema>,
  { webhookId, sandboxId, limit }: { webhookId: string; sandboxId?: string; limit: number },
): Promise<DeliveryRecord[]> {
  let first = database
    .selectFrom("deliveries")
    .select(({ fn }) => fn.min("seq").as("seq"))
    .where("webhook_id", "=", webhookId)
    .where("status", "=", "pending")
    .groupBy("sandbox_id");
  if (sandboxId !== undefined) first = first.where("sandbox_id", "=", sandboxId);
  const rows = await database
    .selectFrom("deliveries")
    .select("record")
    .where("webhook_id", "=", webhookId)
    .where("seq", "in", first)
    .orderBy("next_at")
    .orderBy("seq")
    .limit(limit)
    .execute();
  return rows.flatMap(readDelivery);
}

export async function listDeliveries(
  database: Kysely<Schema>,
  { webhookId, status, limit }: { webhookId: string; status?: DeliveryStatus; limit: number },
): Promise<DeliveryRecord[]> {
  let query = database.selectFrom("deliveries").select("record").where("webhook_id", "=", webhookId);
  if (status !== undefined) query = query.where("status", "=", status);
  return (await query.orderBy("seq", "desc").limit(limit).execute()).flatMap(readDelivery);
}

export async function countDeliveries(database: Kysely<Schema>): Promise<DeliveryCount[]> {
  const rows = await database
    .selectFrom("deliveries")
    .select(({ fn }) => ["webhook_id as webhookId", "status", fn.countAll<number>().as("count")])
    .groupBy(["webhook_id", "status"])
    .execute();
  return rows as DeliveryCount[];
}

export function deliveryRow(delivery: DeliveryRecord): Omit<DeliveryRow, "ordinal"> {
  const { webhookId, seq, sandboxId, status, createdAt, nextAt, endedAt } = delivery;
  return {
    webhook_id: webhookId,
    seq,
    sandbox_id: sandboxId,
    status,
    created_at: createdAt,
    next_at: nextAt,
    ended_at: endedAt,
    record: JSON.stringify(delivery),
  };
}

/** One that was edited by hand and can't be read is passed over. */
export function readDelivery({ record }: { record: string }): DeliveryRecord[] {
  const { data } = shape.safeParse(parse(record));
  return data === undefined ? [] : [data];
}
