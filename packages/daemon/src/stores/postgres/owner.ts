import { TorporError } from "@torpor/contract";
import type { Kysely } from "kysely";
import type { Schema } from "../sql/schema.ts";

/** The first node to open the store is its owner: another would take the owner's running operations for those of a dead daemon. */
export async function claim(kysely: Kysely<Schema>, instance: string, place: string): Promise<void> {
  await kysely
    .insertInto("settings")
    .values({ name: "owner", value: instance })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  const { value } = await kysely.selectFrom("settings").select("value").where("name", "=", "owner").executeTakeFirstOrThrow();
  if (value === instance) return;
  throw new TorporError(
    "storage_failed",
    `the store ${place} belongs to another data directory (instance ${value}; this one is ${instance})`,
    {
      hint: "Give each torpord a database of its own.",
    },
  );
}
