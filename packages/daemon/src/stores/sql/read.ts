import type { Event } from "@torpor/contract";
import type { OperationRecord, SandboxRecord } from "@torpor/core";
import type { Kysely } from "kysely";
import { readOperation, readRunning, readSandbox } from "./records.ts";
import type { EventRow, Schema } from "./schema.ts";

const defaultEventLimit = 1000;

export async function findSandbox(database: Kysely<Schema>, idOrName: string): Promise<SandboxRecord | undefined> {
  const rows = await database
    .selectFrom("sandboxes")
    .selectAll()
    .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
    .execute();
  const row = rows.find(({ id }) => id === idOrName) ?? rows[0];
  return row && readSandbox(row);
}

export async function listSandboxes(database: Kysely<Schema>): Promise<SandboxRecord[]> {
  const rows = await database.selectFrom("sandboxes").selectAll().orderBy("created_at").orderBy("id").execute();
  return rows.map(readSandbox);
}

export async function findOperation(database: Kysely<Schema>, id: string): Promise<OperationRecord | undefined> {
  const row = await database.selectFrom("operations").selectAll().where("id", "=", id).executeTakeFirst();
  return row && readOperation(row);
}

export async function listOperations(database: Kysely<Schema>, sandboxId: string): Promise<OperationRecord[]> {
  const rows = await database.selectFrom("operations").selectAll().where("sandbox_id", "=", sandboxId).orderBy("ordinal", "desc").execute();
  return rows.map(readOperation);
}

export async function runningOperations(database: Kysely<Schema>): Promise<OperationRecord[]> {
  const rows = await database.selectFrom("operations").selectAll().where("status", "=", "running").orderBy("ordinal").execute();
  return rows.map(readRunning);
}

export async function listEvents(
  database: Kysely<Schema>,
  filter: { sandboxId?: string; after?: number; limit?: number },
): Promise<Event[]> {
  let query = database
    .selectFrom("events")
    .selectAll()
    .where("seq", ">", filter.after ?? 0);
  if (filter.sandboxId !== undefined) query = query.where("sandbox_id", "=", filter.sandboxId);
  const rows = await query
    .orderBy("seq")
    .limit(filter.limit ?? defaultEventLimit)
    .execute();
  return rows.map(eventOf);
}

export async function eventBounds(database: Kysely<Schema>, sandboxId = ""): Promise<{ lost: number; newest: number }> {
  const horizons = await database
    .selectFrom("event_horizons")
    .select(["sandbox_id", "seq"])
    .where("sandbox_id", "in", ["", sandboxId])
    .execute();
  const lost = (whose: string) => horizons.find(({ sandbox_id }) => sandbox_id === whose)?.seq ?? 0;
  const { newest } = await database
    .selectFrom("events")
    .select(({ fn }) => fn.max("seq").as("newest"))
    .executeTakeFirstOrThrow();
  return { lost: lost(sandboxId), newest: newest ?? lost("") };
}

function eventOf({ seq, sandbox_id, operation_id, type, data, at }: Omit<EventRow, "seq"> & { seq: number }): Event {
  return { seq, sandboxId: sandbox_id, operationId: operation_id, type, data: JSON.parse(data) as Event["data"], at };
}
