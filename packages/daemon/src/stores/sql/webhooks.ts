import { TorporError, Webhook } from "@torpor/contract";
import { StoreConflict, type WebhookRecord } from "@torpor/core";
import type { Kysely, Transaction } from "kysely";
import type { Schema, WebhookRow } from "./schema.ts";

const shape = Webhook.omit({ pending: true, dead: true });

export async function findWebhook(database: Kysely<Schema>, id: string): Promise<WebhookRecord | undefined> {
  const row = await database.selectFrom("webhooks").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) return undefined;
  const [record] = readWebhook(row);
  if (record !== undefined) return record;
  throw new TorporError("storage_failed", `the stored record of webhook ${id} can't be read`, {
    hint: "Restore the store from a backup, or delete the row.",
  });
}

/** One that was edited by hand and can't be read is passed over: it must not keep events from being written. */
export async function listWebhooks(database: Kysely<Schema>): Promise<WebhookRecord[]> {
  const rows = await database.selectFrom("webhooks").selectAll().orderBy("ordinal").execute();
  return rows.flatMap(readWebhook);
}

/** Compare-and-set by version; version 0 is an insert. */
export async function writeWebhook(transaction: Transaction<Schema>, record: WebhookRecord): Promise<void> {
  const row = webhookRow(record);
  if (record.version === 0) {
    await transaction.insertInto("webhooks").values(row).execute();
    return;
  }
  const { numUpdatedRows } = await transaction
    .updateTable("webhooks")
    .set(row)
    .where("id", "=", record.id)
    .where("version", "=", record.version)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw stale(record);
}

export async function deleteWebhook(transaction: Transaction<Schema>, record: WebhookRecord): Promise<void> {
  const { numDeletedRows } = await transaction
    .deleteFrom("webhooks")
    .where("id", "=", record.id)
    .where("version", "=", record.version)
    .executeTakeFirst();
  if (numDeletedRows !== 1n) throw stale(record);
  await transaction.deleteFrom("deliveries").where("webhook_id", "=", record.id).execute();
}

export function webhookRow({ version, secret, ...record }: WebhookRecord): Omit<WebhookRow, "ordinal"> {
  return { id: record.id, version: version + 1, secret, record: JSON.stringify(record) };
}

function readWebhook({ version, secret, record }: Omit<WebhookRow, "ordinal">): WebhookRecord[] {
  const { data } = shape.safeParse(parse(record));
  return data === undefined ? [] : [{ ...data, version, secret }];
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function stale({ id, version }: WebhookRecord): StoreConflict {
  return new StoreConflict("stale", `webhook ${id} is not at version ${version} any more`);
}
