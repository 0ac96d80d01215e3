import type { Kysely } from "kysely";
import type { DialectName } from "../columns.ts";
import type { Schema } from "../schema.ts";
import { up as first } from "./0001-sandboxes-operations-events.ts";
import { up as second } from "./0002-keys-and-retention.ts";
import { up as ancestors } from "./0003-ancestors.ts";
import { up as capacity } from "./0003-capacity.ts";
import { up as snapshots } from "./0003-snapshots.ts";
import { up as wakes } from "./0003-wakes.ts";
import { up as webhooks } from "./0003-webhooks-and-event-horizons.ts";
import { up as answers } from "./0004-answers.ts";
import { up as credentials } from "./0004-credentials.ts";
import { up as supervised } from "./0004-supervised-sessions.ts";
import { up as teams } from "./0004-teams.ts";
import { up as usage } from "./0004-usage.ts";

type Up = (database: Kysely<Schema>, dialect: DialectName) => Promise<void>;

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly up: Up;
}

/** Append-only: one that was released is never changed. */
export const migrations: readonly Migration[] = [
  { version: 1, name: "sandboxes, operations, events", up: first },
  { version: 2, name: "idempotency keys, retention, settings", up: second },
  {
    version: 3,
    name: "snapshots, webhooks, wakes, ancestors, capacity",
    up: inTurn([snapshots, webhooks, wakes, ancestors, capacity]),
  },
  {
    version: 4,
    name: "credentials, answers, supervised sessions, usage, teams",
    up: inTurn([credentials, answers, supervised, usage, teams]),
  },
];

function inTurn(parts: readonly Up[]): Up {
  return async (database, dialect) => {
    for (const part of parts) await part(database, dialect);
  };
}
