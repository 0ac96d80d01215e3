import { TorporError } from "@torpor/contract";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DialectName } from "./columns.ts";
import { migrations } from "./migrations/index.ts";
import type { Schema } from "./schema.ts";

/** Any number that nobody else locks in this database. */
const migrationLock = 7_041_971;

/** Brings the schema up to this version, all or nothing. Refuses one that a newer Torpor made, having touched nothing. */
export async function migrate(database: Kysely<Schema>, dialect: DialectName, place: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    // Several may come at once; SQLite's own lock is the first write's.
    if (dialect === "postgres") await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(transaction);
    await sql`create table if not exists schema_migrations (version integer primary key not null, name text not null, applied_at text not null)`.execute(
      transaction,
    );
    const newest = await newestOf(transaction, place);
    for (const migration of migrations.filter(({ version }) => version > newest)) {
      await migration.up(transaction, dialect);
      const { version, name } = migration;
      await transaction.insertInto("schema_migrations").values({ version, name, applied_at: new Date().toISOString() }).execute();
    }
  });
}

async function newestOf(transaction: Transaction<Schema>, place: string): Promise<number> {
  const newest = await transaction
    .selectFrom("schema_migrations")
    .select(["version", "name"])
    .orderBy("version", "desc")
    .limit(1)
    .executeTakeFirst();
  const known = migrations.at(-1)?.version ?? 0;
  if (newest === undefined || newest.version <= known) return newest?.version ?? 0;
  throw new TorporError(
    "storage_failed",
    `the store ${place} has schema ${newest.version} (${newest.name}), this Torpor knows up to ${known}: nothing was changed`,
    { hint: "start the newer Torpor that made it" },
  );
}
