import { TorporError } from "@torpor/contract";
import { type Store, StoreConflict } from "@torpor/core";
import { Kysely, PostgresDialect } from "kysely";
import { Pool, types } from "pg";
import { migrate } from "../sql/migrate.ts";
import type { Schema } from "../sql/schema.ts";
import { createSqlStore } from "../sql/sql-store.ts";
import { commitOnce, OutcomeUnknown } from "./commit.ts";
import { isConnectionFailure } from "./connection-failure.ts";
import { endure } from "./endurance.ts";
import { claim } from "./owner.ts";

export interface PostgresOptions {
  /** The node whose records they are. A store serves one node. */
  readonly instance: string;
  /** How long commits and reads wait for a server that is away, and the start. */
  readonly commitLimitMs?: number;
  readonly readLimitMs?: number;
  readonly startLimitMs?: number;
}

/** A commit that fails leaves its operation to the next start of the daemon, so it waits longer than whoever only looks. */
const limits = { commitLimitMs: 300_000, readLimitMs: 30_000, startLimitMs: 10_000 };
const connectLimitMs = 5_000;
/** Commits are short: more connections would only wait for each other's rows. */
const connections = 8;
/** int8, which pg gives as text; numbers of rows stay far below 2^53. */
const int8 = 20;

/** Opens a store in a PostgreSQL database, made or brought up to date if need be. The URL may hold a password: it is told to nobody. */
export async function openPostgresStore(url: string, { instance, ...given }: PostgresOptions): Promise<Store> {
  const { commitLimitMs, readLimitMs, startLimitMs } = { ...limits, ...given };
  const place = placeOf(url);
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectLimitMs,
    keepAlive: true,
    application_name: "torpord",
    types: { getTypeParser: ((oid: number, format?: never) => (oid === int8 ? Number : types.getTypeParser(oid, format))) as never },
  });
  // A connection that breaks while nobody uses it: the next use makes another. Without a listener it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => void client.on("error", () => {}));
  const kysely = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  const told = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw failure(error, place);
    }
  };
  try {
    await told(() => endure(startLimitMs, () => migrate(kysely, "postgres", place)));
    await told(() => claim(kysely, instance, place));
  } catch (error) {
    await kysely.destroy();
    throw error;
  }
  return createSqlStore(kysely, {
    read: (work) => told(() => endure(readLimitMs, work)),
    commit: (change) => told(() => commitOnce(kysely, commitLimitMs, change)),
  });
}

/** Host and database, without user, password and options. */
export function placeOf(url: string): string {
  if (!URL.canParse(url)) return "postgres://…";
  const { host, pathname, searchParams } = new URL(url);
  return `postgres://${host || (searchParams.get("host") ?? "")}${pathname}`;
}

const awayHint = "Look whether PostgreSQL runs there and takes connections; what was begun goes on when it is back.";

function failure(error: unknown, place: string): Error {
  if (error instanceof StoreConflict || error instanceof TorporError) return error;
  if (error instanceof OutcomeUnknown) {
    const message = `the store ${place} can't be reached, and ${error.message}`;
    return new TorporError("storage_failed", message, { cause: error, hint: awayHint, details: { outcome: "unknown" } });
  }
  if (!(error instanceof Error)) return new Error(String(error));
  const { code } = error as NodeJS.ErrnoException;
  const away = isConnectionFailure(error);
  if (code === undefined && !away) return error;
  const words = `${error.message || code}${code === undefined || error.message.includes(code) ? "" : ` (${code})`}`;
  return new TorporError("storage_failed", `the store ${place} ${away ? "can't be reached" : "failed"}: ${words}`, {
    cause: error,
    ...(away ? { hint: awayHint } : {}),
  });
}
