import { type Change, StoreConflict } from "@torpor/core";
import { type Kysely, sql, type Transaction } from "kysely";
import { credentialsApplied } from "../sql/credentials.ts";
import { findKey } from "../sql/keys.ts";
import type { Schema } from "../sql/schema.ts";
import { snapshotRow } from "../sql/snapshots.ts";
import { applyChange, type Locks } from "../sql/sql-store.ts";
import { supervisedApplied } from "../sql/supervised.ts";
import { teamsApplied } from "../sql/teams.ts";
import { wakesApplied } from "../sql/wakes.ts";
import { webhookRow } from "../sql/webhooks.ts";
import { operationRow, sandboxRow } from "../sql/write.ts";
import { conflictOf } from "./conflict.ts";
import { isConnectionFailure } from "./connection-failure.ts";
import { endure } from "./endurance.ts";

/** Any numbers that nobody else locks in this database. */
const eventLock = 7_041_972;
const capacityLock = 7_041_973;

const locks: Locks = {
  // Two at once would each not see what the other takes.
  capacity: (transaction) => lock(transaction, capacityLock),
  // Events become visible in the order of their numbers, so that nobody who reads on misses one; each is written with the deliveries of just the
  // webhooks that are there.
  events: (transaction) => lock(transaction, eventLock),
};

async function lock(transaction: Transaction<Schema>, number: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(number)})`.execute(transaction);
}

/**
 * Commits a change once. When the connection breaks at the commit itself nobody knows whether it took place: the change is tried
 * again, and if its versions are not there any more, the records say whether it was this very change that moved them on.
 */
export async function commitOnce(kysely: Kysely<Schema>, limitMs: number, change: Change): Promise<void> {
  let unknown = false;
  const attempt = async (): Promise<void> => {
    let sent = false;
    try {
      await kysely.transaction().execute(async (transaction) => {
        await applyChange(transaction, change, locks);
        sent = true;
      });
    } catch (error) {
      if (isConnectionFailure(error)) unknown ||= sent;
      const told = conflictOf(error);
      if (told instanceof StoreConflict && unknown && (await isApplied(kysely, change))) return;
      throw told;
    }
  };
  try {
    await endure(limitMs, attempt);
  } catch (error) {
    throw unknown && isConnectionFailure(error) ? new OutcomeUnknown(error) : error;
  }
}

/** The server stayed away too long after the line had broken at the commit itself. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
  constructor(cause: unknown) {
    super("whether the last change was written is not known", { cause });
  }
}

/** By the first record that it wrote; its other parts are in the same transaction. */
async function isApplied(kysely: Kysely<Schema>, change: Change): Promise<boolean> {
  const { operations = [], sandboxes = [], removed = [], keys = [], snapshots = [], removedSnapshots = [] } = change;
  const { webhooks = [], removedWebhooks = [] } = change;
  const [written] = [
    ...operations.map((record) => ({ table: "operations" as const, row: operationRow(record) })),
    ...sandboxes.map((record) => ({ table: "sandboxes" as const, row: sandboxRow(record) })),
    ...snapshots.map((record) => ({ table: "snapshots" as const, row: snapshotRow(record) })),
    ...webhooks.map((record) => ({ table: "webhooks" as const, row: webhookRow(record) })),
  ];
  if (written !== undefined) {
    const { table, row } = written;
    const found = await kysely.selectFrom(table).select(["version", "record"]).where("id", "=", row.id).executeTakeFirst();
    return found?.version === row.version && found.record === row.record;
  }
  const [gone] = [
    ...removed.map(({ id }) => ({ table: "sandboxes" as const, id })),
    ...removedSnapshots.map(({ id }) => ({ table: "snapshots" as const, id })),
    ...removedWebhooks.map(({ id }) => ({ table: "webhooks" as const, id })),
  ];
  if (gone !== undefined)
    return (await kysely.selectFrom(gone.table).select("id").where("id", "=", gone.id).executeTakeFirst()) === undefined;
  const wakes = await wakesApplied(kysely, change);
  if (wakes !== undefined) return wakes;
  const credentials = await credentialsApplied(kysely, change);
  if (credentials !== undefined) return credentials;
  const supervised = await supervisedApplied(kysely, change);
  if (supervised !== undefined) return supervised;
  const teams = await teamsApplied(kysely, change);
  if (teams !== undefined) return teams;
  const [key] = keys;
  return key !== undefined && (await findKey(kysely, key.scope, key.key, key.createdAt))?.operationId === key.operationId;
}
