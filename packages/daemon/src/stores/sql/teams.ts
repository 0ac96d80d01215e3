import { Prices, TeamBudget, TeamLimits, TorporError } from "@torpor/contract";
import { type Change, checkLimits, StoreConflict, type TeamHolding, type TeamRecord, teamOf } from "@torpor/core";
import { type Kysely, sql, type Transaction } from "kysely";
import { z } from "zod";
import type { Schema } from "./schema.ts";
import { parse } from "./webhooks.ts";

const pricesName = "prices";
const shape = z.object({ limits: TeamLimits, budget: TeamBudget.pick({ credit: true, used: true, lastTopUp: true }).nullable() });

export async function listTeams(database: Kysely<Schema>): Promise<TeamRecord[]> {
  const rows = await database.selectFrom("teams").selectAll().orderBy("name").execute();
  return rows.map(({ name, version, record }) => ({ ...readTeam(name, record), name, version }));
}

/** One that was edited by hand and can't be read must not be without limits. */
function readTeam(name: string, record: string): z.infer<typeof shape> {
  const { data } = shape.safeParse(parse(record));
  if (data !== undefined) return data;
  throw new TorporError("storage_failed", `the stored record of team ${name} can't be read`, {
    hint: "Restore the store from a backup, or delete the row.",
  });
}

export async function readPrices(database: Kysely<Schema>): Promise<Prices | undefined> {
  const row = await database.selectFrom("settings").select("value").where("name", "=", pricesName).executeTakeFirst();
  return row && Prices.parse(JSON.parse(row.value));
}

export async function readHeldByTeam(database: Kysely<Schema>, team: string): Promise<TeamHolding> {
  const { memory, cpus, disk, sandboxes } = await database
    .selectFrom("sandboxes")
    .select([
      sql<number | string>`coalesce(sum(held_memory), 0)`.as("memory"),
      sql<number | string>`coalesce(sum(held_cpus), 0)`.as("cpus"),
      sql<number | string>`coalesce(sum(held_disk), 0)`.as("disk"),
      sql<number | string>`count(*)`.as("sandboxes"),
    ])
    .where("team", "=", team)
    .executeTakeFirstOrThrow();
  return { memoryBytes: Number(memory), cpus: Number(cpus), diskBytes: Number(disk), sandboxes: Number(sandboxes) };
}

/** With what the transaction has written. */
export async function checkTeams(transaction: Transaction<Schema>, { sandboxes = [] }: Change): Promise<void> {
  const names = new Set(sandboxes.map(teamOf));
  for (const team of await listTeams(transaction)) {
    if (names.has(team.name)) checkLimits(team, sandboxes, await readHeldByTeam(transaction, team.name));
  }
}

/** Compare-and-set by version; version 0 is an insert. */
export async function writeTeams(transaction: Transaction<Schema>, { teams = [], prices }: Change): Promise<void> {
  for (const record of teams) await writeTeam(transaction, record);
  if (prices === undefined) return;
  const value = JSON.stringify(prices);
  await transaction
    .insertInto("settings")
    .values({ name: pricesName, value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}

async function writeTeam(transaction: Transaction<Schema>, record: TeamRecord): Promise<void> {
  const row = teamRow(record);
  if (record.version === 0) {
    await transaction.insertInto("teams").values(row).execute();
    return;
  }
  const { numUpdatedRows } = await transaction
    .updateTable("teams")
    .set(row)
    .where("name", "=", record.name)
    .where("version", "=", record.version)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new StoreConflict("stale", `team ${record.name} is not at version ${record.version} any more`);
}

/** Whether a change that tells of teams was made; undefined: it tells of none. */
export async function teamsApplied(database: Kysely<Schema>, { teams = [] }: Change): Promise<boolean | undefined> {
  const [first] = teams;
  if (first === undefined) return undefined;
  const { name, version, record } = teamRow(first);
  const found = await database.selectFrom("teams").select(["version", "record"]).where("name", "=", name).executeTakeFirst();
  return found?.version === version && found.record === record;
}

function teamRow({ name, version, ...record }: TeamRecord) {
  return { name, version: version + 1, record: JSON.stringify(record) };
}
