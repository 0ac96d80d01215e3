import { chmodSync, closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { TorporError } from "@torpor/contract";
import { type Store, StoreConflict, type StoreConflictKind } from "@torpor/core";
import Database, { SqliteError } from "better-sqlite3";
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from "kysely";
import { setLatest } from "../../set-latest.ts";
import { migrate } from "../sql/migrate.ts";
import type { Schema } from "../sql/schema.ts";
import { applyChange, createSqlStore } from "../sql/sql-store.ts";

/** So long another process may hold the file, at the start and at run time. */
const defaultBusyMs = 5000;
const lookAgainMs = 20;

/** Opens the store of a node, made or brought up to date if need be. */
export async function openSqliteStore(path: string, { busyMs = defaultBusyMs }: { readonly busyMs?: number } = {}): Promise<Store> {
  const { database, kysely } = await openReady(path, busyMs);
  database.pragma(`busy_timeout = ${busyMs}`);
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw failure(error, path);
    }
  };
  return createSqlStore(kysely, {
    read: guarded,
    commit: (change) => guarded(() => kysely.transaction().execute((transaction) => applyChange(transaction, change))),
  });
}

/** While others migrate the file one looks again: SQLite's own waiting would hold up this whole process. */
async function openReady(path: string, busyMs: number): Promise<{ database: Database.Database; kysely: Kysely<Schema> }> {
  const until = performance.now() + busyMs;
  for (;;) {
    try {
      return await openOnce(path);
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw failure(error, path);
      await sleep(lookAgainMs);
    }
  }
}

async function openOnce(path: string): Promise<{ database: Database.Database; kysely: Kysely<Schema> }> {
  attempt(() => closeSync(openSync(path, "wx", ownerOnly)));
  const database = openFile(path);
  try {
    database.pragma("journal_mode = WAL");
    // A pause is committed before its runtime goes: it must survive a power cut. Measured: 0.20 ms a commit instead of 0.02.
    database.pragma("synchronous = FULL");
    const kysely = new Kysely<Schema>({ dialect: new SqliteDialect({ database: keepStatements(database) }) });
    await migrate(kysely, "sqlite", path);
    for (const suffix of ["", "-wal", "-shm"]) attempt(() => chmodSync(path + suffix, ownerOnly));
    return { database, kysely };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** There are some hundred, and more where a list's length is part of the text. */
const mostStatements = 300;

/** Prepares each statement once: that takes as long as most of them take to run. */
function keepStatements(database: Database.Database): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare(sql) {
      const known = kept.get(sql);
      if (known !== undefined) return known;
      const statement: SqliteStatement = database.prepare(sql);
      setLatest(kept, sql, statement, mostStatements);
      return statement;
    },
  };
}

/** Environments and secrets of webhooks are in it. */
const ownerOnly = 0o600;

/** The file is there already, or can't be made or changed: opening it tells. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {}
}

function openFile(path: string): Database.Database {
  try {
    return new Database(path, { timeout: 0 });
  } catch (error) {
    if (error instanceof SqliteError) throw error;
    throw new TorporError("storage_failed", `the store ${path} can't be opened: ${(error as Error).message}`, { cause: error });
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof SqliteError && error.code.startsWith("SQLITE_BUSY");
}

/** By the index that was violated, as SQLite's message has it. */
const conflicts: readonly (readonly [column: string, kind: StoreConflictKind])[] = [
  ["sandboxes.name", "name"],
  ["sandboxes.address", "address"],
  ["snapshots.name", "snapshot"],
  ["operations.sandbox_id", "operation"],
];

const hints: readonly (readonly [code: string, hint: string])[] = [
  ["SQLITE_BUSY", "Another process holds the file: end it (fuser names it), then try again."],
  ["SQLITE_READONLY", "Make the file and its directory writable for torpord."],
  ["SQLITE_CANTOPEN", "Look whether the directory is there and writable for torpord."],
  ["SQLITE_CORRUPT", "Restore the file from a backup."],
  ["SQLITE_NOTADB", "Restore the file from a backup."],
];

function failure(error: unknown, path: string): Error {
  if (error instanceof StoreConflict || error instanceof TorporError) return error;
  if (!(error instanceof SqliteError)) return error instanceof Error ? error : new Error(String(error));
  if (error.code.startsWith("SQLITE_CONSTRAINT")) {
    const kind = conflicts.find(([column]) => error.message.endsWith(column))?.[1] ?? "stale";
    return new StoreConflict(kind, error.message);
  }
  const hint = hints.find(([code]) => error.code.startsWith(code))?.[1];
  return new TorporError("storage_failed", `the store ${path} failed: ${error.message} (${error.code})`, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}
