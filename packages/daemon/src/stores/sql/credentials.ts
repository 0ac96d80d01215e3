import { type Change, type CredentialRecord, StoreConflict } from "@torpor/core";
import type { Kysely, Transaction } from "kysely";
import type { CredentialRow, Schema } from "./schema.ts";

export async function findCredential(database: Kysely<Schema>, hash: string): Promise<CredentialRecord | undefined> {
  const row = await database.selectFrom("credentials").selectAll().where("hash", "=", hash).executeTakeFirst();
  return row && read(row);
}

export async function listTokens(database: Kysely<Schema>): Promise<CredentialRecord[]> {
  return (await database.selectFrom("credentials").selectAll().where("kind", "=", "token").orderBy("ordinal").execute()).map(read);
}

export async function listSessions(database: Kysely<Schema>, tokenId: string | null): Promise<CredentialRecord[]> {
  const query = database.selectFrom("credentials").selectAll().where("kind", "=", "session").orderBy("ordinal");
  return (await query.where("token_id", tokenId === null ? "is" : "=", tokenId).execute()).map(read);
}

/** What ends before what begins: a code is used by the session that takes its place. They are written once and never changed. */
export async function writeCredentials(transaction: Transaction<Schema>, change: Change): Promise<void> {
  for (const { id, version } of change.endedCredentials ?? []) {
    const { numDeletedRows } = await transaction
      .deleteFrom("credentials")
      .where("id", "=", id)
      .where("version", "=", version)
      .executeTakeFirst();
    if (numDeletedRows !== 1n) throw new StoreConflict("stale", `credential ${id} was changed or is gone`);
  }
  for (const record of change.credentials ?? []) await transaction.insertInto("credentials").values(rowOf(record)).execute();
}

/** Whether the first one that a change wrote, or ended, is as it should be. */
export async function credentialsApplied(
  database: Kysely<Schema>,
  { credentials = [], endedCredentials = [] }: Change,
): Promise<boolean | undefined> {
  const there = async (id: string) =>
    (await database.selectFrom("credentials").select("id").where("id", "=", id).executeTakeFirst()) !== undefined;
  const [written] = credentials;
  if (written !== undefined) return there(written.id);
  const [ended] = endedCredentials;
  return ended && !(await there(ended.id));
}

function rowOf({ version, hash, ...record }: CredentialRecord): Omit<CredentialRow, "ordinal"> {
  const { id, kind, tokenId, name, expiresAt } = record;
  return { id, version: version + 1, kind, hash, token_id: tokenId, name, expires_at: expiresAt, record: JSON.stringify(record) };
}

function read({ version, hash, record }: Omit<CredentialRow, "ordinal">): CredentialRecord {
  return { ...(JSON.parse(record) as Omit<CredentialRecord, "version" | "hash">), version, hash };
}
