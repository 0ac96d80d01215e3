import type { Event } from "@torpor/contract";
import { holdingOf, type NewEvent, type OperationRecord, type SandboxRecord, StoreConflict, teamOf } from "@torpor/core";
import type { Transaction } from "kysely";
import type { OperationRow, SandboxRow, Schema } from "./schema.ts";

/** Compare-and-set by version; version 0 is an insert. */
export async function writeSandbox(transaction: Transaction<Schema>, record: SandboxRecord): Promise<void> {
  const row = sandboxRow(record);
  if (record.version === 0) {
    await transaction.insertInto("sandboxes").values(row).execute();
    return;
  }
  const { numUpdatedRows } = await transaction
    .updateTable("sandboxes")
    .set(row)
    .where("id", "=", record.id)
    .where("version", "=", record.version)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw stale("sandbox", record);
}

export async function deleteSandbox(transaction: Transaction<Schema>, record: SandboxRecord): Promise<void> {
  const { numDeletedRows } = await transaction
    .deleteFrom("sandboxes")
    .where("id", "=", record.id)
    .where("version", "=", record.version)
    .executeTakeFirst();
  if (numDeletedRows !== 1n) throw stale("sandbox", record);
}

export async function writeOperation(transaction: Transaction<Schema>, record: OperationRecord): Promise<void> {
  const row = operationRow(record);
  if (record.version === 0) {
    await transaction.insertInto("operations").values(row).execute();
    return;
  }
  const { numUpdatedRows } = await transaction
    .updateTable("operations")
    .set(row)
    .where("id", "=", record.id)
    .where("version", "=", record.version)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw stale("operation", record);
}

/** Gives it with its number. */
export async function writeEvent(transaction: Transaction<Schema>, event: NewEvent): Promise<Event> {
  const { sandboxId, operationId, type, data, at } = event;
  const { seq } = await transaction
    .insertInto("events")
    .values({ sandbox_id: sandboxId, operation_id: operationId, type, data: JSON.stringify(data), at })
    .returning("seq")
    .executeTakeFirstOrThrow();
  return { ...event, seq };
}

export function sandboxRow(record: SandboxRecord): SandboxRow {
  const { id, version, name, address, createdAt, parentId } = record;
  const { memoryBytes, cpus, diskBytes } = holdingOf(record);
  const held = { held_memory: memoryBytes, held_cpus: cpus, held_disk: diskBytes };
  return {
    id,
    version: version + 1,
    name,
    address,
    created_at: createdAt,
    parent_id: parentId,
    record: textOf(record),
    team: teamOf(record),
    ...held,
  };
}

export function operationRow(record: OperationRecord): OperationRow & { ended_at: string | null } {
  const { id, version, sandboxId, status, endedAt } = record;
  return { id, version: version + 1, sandbox_id: sandboxId, status, ended_at: endedAt, record: textOf(record) };
}

/** What the store itself says about a record is not part of it. */
function textOf({ damage: _damage, ...record }: SandboxRecord | OperationRecord): string {
  return JSON.stringify(record);
}

function stale(what: string, { id, version }: { id: string; version: number }): StoreConflict {
  return new StoreConflict("stale", `${what} ${id} is not at version ${version} any more`);
}
