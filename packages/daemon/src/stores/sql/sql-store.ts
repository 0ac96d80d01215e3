import type { Change, Store } from "@torpor/core";
import type { Kysely, Transaction } from "kysely";
import { keepAncestors, listAncestors } from "./ancestors.ts";
import { checkWithin, readHeld } from "./capacity.ts";
import { findCredential, listSessions, listTokens, writeCredentials } from "./credentials.ts";
import { countDeliveries, firstDeliveries, listDeliveries, OutboxWriter, updateDelivery } from "./deliveries.ts";
import { findKey, writeKey } from "./keys.ts";
import { prune } from "./prune.ts";
import { eventBounds, findOperation, findSandbox, listEvents, listOperations, listSandboxes, runningOperations } from "./read.ts";
import type { Schema } from "./schema.ts";
import { applySnapshots, findSnapshot, listSnapshots } from "./snapshots.ts";
import { findSupervised, listSupervised, writeSupervised } from "./supervised.ts";
import { checkTeams, listTeams, readHeldByTeam, readPrices, writeTeams } from "./teams.ts";
import { listUsage, writeUsage } from "./usage.ts";
import { countWakeups, findWake, listWakes, nextWakeup, writeWakes } from "./wakes.ts";
import { deleteWebhook, findWebhook, listWebhooks, writeWebhook } from "./webhooks.ts";
import { deleteSandbox, writeEvent, writeOperation, writeSandbox } from "./write.ts";

/** What a database does in its own way. */
export interface Conduct {
  /** Runs what may be repeated; its errors become those of the contract. */
  read<T>(work: () => Promise<T>): Promise<T>;
  /** Runs a transaction once, whatever happens to the connection. */
  commit(change: Change): Promise<void>;
}

/** The store's contract over any database that Kysely speaks to. */
export function createSqlStore(kysely: Kysely<Schema>, { read, commit }: Conduct): Store {
  return {
    commit,
    findSandbox: (idOrName) => read(() => findSandbox(kysely, idOrName)),
    listSandboxes: () => read(() => listSandboxes(kysely)),
    held: () => read(() => readHeld(kysely)),
    listAncestors: () => read(() => listAncestors(kysely)),
    findOperation: (id) => read(() => findOperation(kysely, id)),
    listOperations: (sandboxId) => read(() => listOperations(kysely, sandboxId)),
    runningOperations: () => read(() => runningOperations(kysely)),
    listEvents: (filter) => read(() => listEvents(kysely, filter)),
    eventBounds: (sandboxId) => read(() => eventBounds(kysely, sandboxId)),
    findWebhook: (id) => read(() => findWebhook(kysely, id)),
    listWebhooks: () => read(() => listWebhooks(kysely)),
    firstDeliveries: (filter) => read(() => firstDeliveries(kysely, filter)),
    listDeliveries: (filter) => read(() => listDeliveries(kysely, filter)),
    countDeliveries: () => read(() => countDeliveries(kysely)),
    findSnapshot: (idOrName) => read(() => findSnapshot(kysely, idOrName)),
    listSnapshots: (filter) => read(() => listSnapshots(kysely, filter)),
    findKey: (scope, key, now) => read(() => findKey(kysely, scope, key, now)),
    listWakes: (sandboxId) => read(() => listWakes(kysely, sandboxId)),
    findWake: (id) => read(() => findWake(kysely, "id", id)),
    findWakeByToken: (tokenHash) => read(() => findWake(kysely, "token_hash", tokenHash)),
    nextWakeup: (sandboxId) => read(() => nextWakeup(kysely, sandboxId)),
    countWakeups: () => read(() => countWakeups(kysely)),
    findCredential: (hash) => read(() => findCredential(kysely, hash)),
    listTokens: () => read(() => listTokens(kysely)),
    listSessions: (tokenId) => read(() => listSessions(kysely, tokenId)),
    listSupervised: (sandboxId) => read(() => listSupervised(kysely, sandboxId)),
    findSupervised: (sandboxId, id) => read(() => findSupervised(kysely, sandboxId, id)),
    listTeams: () => read(() => listTeams(kysely)),
    heldByTeam: (team) => read(() => readHeldByTeam(kysely, team)),
    prices: () => read(() => readPrices(kysely)),
    listUsage: () => read(() => listUsage(kysely)),
    prune: (retention) => read(() => prune(kysely, retention)),
    close: () => kysely.destroy(),
  };
}

/** Locks that a database needs in a transaction, held to its end, where others write at the same time. */
export interface Locks {
  /** Before what sandboxes hold is written and summed up. */
  capacity(transaction: Transaction<Schema>): Promise<void>;
  /** Before events or webhooks are written. */
  events(transaction: Transaction<Schema>): Promise<void>;
}

const noLocks: Locks = { capacity: async () => {}, events: async () => {} };

/** The statements of a change, in one transaction. Events and what concerns webhooks come last. */
export async function applyChange(transaction: Transaction<Schema>, change: Change, locks: Locks = noLocks): Promise<void> {
  const { sandboxes = [], operations = [], events = [], removed = [], keys = [], within } = change;
  const { webhooks = [], removedWebhooks = [], deliveries = [] } = change;
  if (within !== undefined) await locks.capacity(transaction);
  for (const record of removed) await deleteSandbox(transaction, record);
  for (const record of sandboxes) await writeSandbox(transaction, record);
  if (within !== undefined) await checkWithin(transaction, within);
  if (within !== undefined) await checkTeams(transaction, change);
  await keepAncestors(transaction, removed);
  for (const record of operations) await writeOperation(transaction, record);
  await applySnapshots(transaction, change);
  for (const record of keys) await writeKey(transaction, record);
  await writeWakes(transaction, change);
  await writeUsage(transaction, change);
  await writeTeams(transaction, change);
  await writeCredentials(transaction, change);
  await writeSupervised(transaction, change);
  for (const record of deliveries) await updateDelivery(transaction, record);
  if (events.length + webhooks.length + removedWebhooks.length > 0) await locks.events(transaction);
  for (const record of webhooks) await writeWebhook(transaction, record);
  for (const record of removedWebhooks) await deleteWebhook(transaction, record);
  const outbox = new OutboxWriter(transaction, [...sandboxes, ...removed]);
  for (const event of events) await outbox.add(await writeEvent(transaction, event));
}
