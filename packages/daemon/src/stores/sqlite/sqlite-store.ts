import { TorporError } from "@torpor/contract";
import { type Change, type Store, StoreConflict, type StoreConflictKind } from "@torpor/core";
import Database, { SqliteError } from "better-sqlite3";
import { Kysely, SqliteDialect } from "kysely";
import { migrate } from "./migrate.ts";
import { findOperation, findSandbox, listEvents, listOperations, listSandboxes, runningOperations } from "./read.ts";
import type { Schema } from "./schema.ts";
import { deleteSandbox, writeEvent, writeOperation, writeSandbox } from "./write.ts";

/** Opens the store of a node, made or brought up to date if need be. */
export async function openSqliteStore(path: string): Promise<Store> {
  const database = open(path);
  const kysely = new Kysely<Schema>({ dialect: new SqliteDialect({ database }) });
  try {
    await migrate(kysely, path);
  } catch (error) {
    await kysely.destroy();
    throw failure(error, path);
  }
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw failure(error, path);
    }
  };
  return {
    commit: (change) => guarded(commit(kysely, change)),
    findSandbox: (idOrName) => guarded(findSandbox(kysely, idOrName)),
    listSandboxes: () => guarded(listSandboxes(kysely)),
    findOperation: (id) => guarded(findOperation(kysely, id)),
    listOperations: (sandboxId) => guarded(listOperations(kysely, sandboxId)),
    runningOperations: () => guarded(runningOperations(kysely)),
    listEvents: (filter) => guarded(listEvents(kysely, filter)),
    close: () => kysely.destroy(),
  };
}

function open(path: string): Database.Database {
  try {
    const database = new Database(path);
    database.pragma("journal_mode = WAL");
    // A pause is committed before its runtime goes: it must survive a power cut. Measured: 0.20 ms a commit instead of 0.02.
    database.pragma("synchronous = FULL");
    database.pragma("busy_timeout = 5000");
    return database;
  } catch (error) {
    throw failure(error, path);
  }
}

async function commit(kysely: Kysely<Schema>, { sandboxes = [], operations = [], events = [], removed = [] }: Change): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    for (const record of removed) await deleteSandbox(transaction, record);
    for (const record of sandboxes) await writeSandbox(transaction, record);
    for (const record of operations) await writeOperation(transaction, record);
    for (const event of events) await writeEvent(transaction, event);
  });
}

/** By the index that was violated, as SQLite's message has it. */
const conflicts: readonly (readonly [column: string, kind: StoreConflictKind])[] = [
  ["sandboxes.name", "name"],
  ["sandboxes.address", "address"],
  ["operations.sandbox_id", "operation"],
];

function failure(error: unknown, path: string): Error {
  if (error instanceof StoreConflict || error instanceof TorporError) return error;
  if (!(error instanceof SqliteError)) return error instanceof Error ? error : new Error(String(error));
  if (error.code.startsWith("SQLITE_CONSTRAINT")) {
    const kind = conflicts.find(([column]) => error.message.endsWith(column))?.[1] ?? "stale";
    return new StoreConflict(kind, error.message);
  }
  return new TorporError("storage_failed", `the store ${path} failed: ${error.message} (${error.code})`, { cause: error });
}
