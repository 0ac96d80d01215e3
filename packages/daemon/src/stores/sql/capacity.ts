import { lacking, type Share, StoreConflict } from "@torpor/core";
import { type Kysely, sql, type Transaction } from "kysely";
import type { Schema } from "./schema.ts";

/** What all sandboxes together hold of the node. */
export async function readHeld(database: Kysely<Schema>): Promise<Share> {
  const { memory, cpus, disk } = await database
    .selectFrom("sandboxes")
    .select([
      sql<number | string>`coalesce(sum(held_memory), 0)`.as("memory"),
      sql<number | string>`coalesce(sum(held_cpus), 0)`.as("cpus"),
      sql<number | string>`coalesce(sum(held_disk), 0)`.as("disk"),
    ])
    .executeTakeFirstOrThrow();
  // PostgreSQL sums integers to a numeric, which comes as text.
  return { memoryBytes: Number(memory), cpus: Number(cpus), diskBytes: Number(disk) };
}

/** With what the transaction has written. */
export async function checkWithin(transaction: Transaction<Schema>, within: Share): Promise<void> {
  const held = await readHeld(transaction);
  if (lacking(held, within) !== undefined) throw new StoreConflict("capacity", "the node has not enough", held);
}
