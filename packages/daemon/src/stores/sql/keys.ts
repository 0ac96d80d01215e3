import { type KeyRecord, StoreConflict } from "@torpor/core";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "./schema.ts";

export async function findKey(database: Kysely<Schema>, scope: string, key: string, now: string): Promise<KeyRecord | undefined> {
  const row = await database
    .selectFrom("idempotency_keys")
    .selectAll()
    .where("scope", "=", scope)
    .where("key", "=", key)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { fingerprint, operation_id, answer, created_at, expires_at } = row;
  return { scope, key, fingerprint, operationId: operation_id, answer, createdAt: created_at, expiresAt: expires_at };
}

export async function writeKey(transaction: Transaction<Schema>, record: KeyRecord): Promise<void> {
  const { scope, key, fingerprint, operationId, answer, createdAt, expiresAt } = record;
  await transaction
    .deleteFrom("idempotency_keys")
    .where("scope", "=", scope)
    .where("key", "=", key)
    .where("expires_at", "<=", createdAt)
    .execute();
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto("idempotency_keys")
    .values({ scope, key, fingerprint, operation_id: operationId, answer, created_at: createdAt, expires_at: expiresAt })
    .onConflict((conflict) => conflict.columns(["scope", "key"]).doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== 1n) throw new StoreConflict("key", `the key ${key} of ${scope} is taken`);
}
