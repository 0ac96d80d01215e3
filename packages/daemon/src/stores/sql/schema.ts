import type { Generated } from "kysely";

/** Columns are what is searched or unique; the rest of a record is in `record`, as JSON. */
export interface SandboxRow {
  id: string;
  version: number;
  name: string;
  address: string | null;
  created_at: string;
  parent_id: string | null;
  record: string;
  /** What it holds of the node, in bytes and CPUs. */
  held_memory: number;
  held_cpus: number;
  held_disk: number;
  team: string;
}

export interface AncestorRow {
  id: string;
  parent_id: string | null;
  record: string;
}

export interface OperationRow {
  id: string;
  version: number;
  sandbox_id: string;
  status: string;
  record: string;
}

interface StoredOperationRow extends OperationRow {
  /** Order of beginning. */
  ordinal: Generated<number>;
  ended_at: string | null;
}

export interface EventRow {
  seq: Generated<number>;
  sandbox_id: string;
  operation_id: string | null;
  type: string;
  data: string;
  at: string;
}

export interface KeyRow {
  ordinal: Generated<number>;
  scope: string;
  key: string;
  fingerprint: string;
  operation_id: string;
  created_at: string;
  expires_at: string;
  answer: string | null;
}

export interface SnapshotRow {
  id: string;
  version: number;
  name: string;
  created_at: string;
  expires_at: string | null;
  record: string;
}

export interface WebhookRow {
  ordinal: Generated<number>;
  id: string;
  version: number;
  secret: string;
  record: string;
}

export interface DeliveryRow {
  ordinal: Generated<number>;
  webhook_id: string;
  seq: number;
  sandbox_id: string;
  status: string;
  created_at: string;
  next_at: string;
  ended_at: string | null;
  record: string;
}

/** The highest seq that was deleted: of a sandbox, and of all under the empty text. */
interface EventHorizonRow {
  sandbox_id: string;
  seq: number;
}

interface WakeRow {
  ordinal: Generated<number>;
  id: string;
  version: number;
  sandbox_id: string;
  token_hash: string | null;
  record: string;
}

interface WakeDeliveryRow {
  /** Its place in the order of all. */
  ordinal: Generated<number>;
  id: string;
  version: number;
  sandbox_id: string;
  record: string;
  call: string | null;
}

export interface CredentialRow {
  ordinal: Generated<number>;
  id: string;
  version: number;
  kind: string;
  hash: string;
  token_id: string | null;
  name: string;
  expires_at: string | null;
  record: string;
}

interface TeamRow {
  name: string;
  version: number;
  record: string;
}

interface UsageRow {
  sandbox_id: string;
  record: string;
}

interface SchemaMigrationRow {
  version: number;
  name: string;
  applied_at: string;
}

/** Facts about the store itself. */
interface SettingRow {
  name: string;
  value: string;
}

interface SupervisedRow {
  ordinal: Generated<number>;
  id: string;
  version: number;
  sandbox_id: string;
  record: string;
}

export interface Schema {
  sandboxes: SandboxRow;
  ancestors: AncestorRow;
  operations: StoredOperationRow;
  events: EventRow;
  idempotency_keys: KeyRow;
  snapshots: SnapshotRow;
  webhooks: WebhookRow;
  deliveries: DeliveryRow;
  event_horizons: EventHorizonRow;
  settings: SettingRow;
  wakes: WakeRow;
  wake_deliveries: WakeDeliveryRow;
  usage: UsageRow;
  teams: TeamRow;
  credentials: CredentialRow;
  supervised_sessions: SupervisedRow;
  schema_migrations: SchemaMigrationRow;
}
