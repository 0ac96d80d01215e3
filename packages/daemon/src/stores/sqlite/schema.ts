import type { Generated } from "kysely";

/** Columns are what is searched or unique; the rest of a record is in `record`, as JSON. */
export interface SandboxRow {
  id: string;
  version: number;
  name: string;
  address: string | null;
  created_at: string;
  record: string;
}

export interface OperationRow {
  /** Order of beginning. */
  ordinal: Generated<number>;
  id: string;
  version: number;
  sandbox_id: string;
  status: string;
  record: string;
}

export interface EventRow {
  seq: Generated<number>;
  sandbox_id: string;
  operation_id: string | null;
  type: string;
  data: string;
  at: string;
}

export interface SchemaMigrationRow {
  version: number;
  name: string;
  applied_at: string;
}

export interface Schema {
  sandboxes: SandboxRow;
  operations: OperationRow;
  events: EventRow;
  schema_migrations: SchemaMigrationRow;
}
