import path from "node:path";
import type { Store } from "@torpor/core";
import { openPostgresStore } from "./postgres/postgres-store.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";

export interface StoreSettings {
  /** URL of a PostgreSQL database; undefined: SQLite in the data directory. */
  readonly store: string | undefined;
  readonly dataDirectory: string;
  readonly instance: string;
}

export function openStore({ store, dataDirectory, instance }: StoreSettings): Promise<Store> {
  return store === undefined ? openSqliteStore(path.join(dataDirectory, "torpor.db")) : openPostgresStore(store, { instance });
}
