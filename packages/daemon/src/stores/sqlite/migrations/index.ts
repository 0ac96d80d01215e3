import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import * as first from "./0001-sandboxes-operations-events.ts";

export interface Migration {
  readonly version: number;
  readonly name: string;
  up(database: Kysely<Schema>): Promise<void>;
}

/** Append-only: one that was released is never changed. */
export const migrations: readonly Migration[] = [{ version: 1, name: "sandboxes, operations, events", up: first.up }];
