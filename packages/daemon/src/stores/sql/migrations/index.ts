import type { Kysely } from "kysely";
import type { DialectName } from "../columns.ts";
import type { Schema } from "../schema.ts";
import { up as first } from "./0001-sandboxes-operations-events.ts";
import { up as second } from "./0002-keys-and-retention.ts";
import { up as fifth } from "./0005-webhooks-and-event-horizons.ts";
import { up as sixth } from "./0006-wakes.ts";
import { up as seventh } from "./0007-ancestors.ts";
import { up as eighth } from "./0008-capacity.ts";

export interface Migration {
  readonly version: number;
  readonly name: string;
  up(database: Kysely<Schema>, dialect: DialectName): Promise<void>;
}

/** Append-only: one that was released is never changed. */
export const migrations: readonly Migration[] = [
  { version: 1, name: "sandboxes, operations, events", up: first },
  { version: 2, name: "idempotency keys, retention, settings", up: second },
  { version: 5, name: "webhooks, event horizons", up: fifth },
  { version: 6, name: "wakes", up: sixth },
  { version: 7, name: "ancestors", up: seventh },
  { version: 8, name: "capacity", up: eighth },
];
