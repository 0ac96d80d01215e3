import { TorporError } from "@torpor/contract";
import { type Kysely, sql } from "kysely";
import { migrations } from "./migrations/index.ts";
import type { Schema } from "./schema.ts";

/** Brings the schema up to this version, all or nothing. Refuses one that a newer Torpor made, having touched nothing. */
export async function migrate(database: Kysely<Schema>, path: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await sql`create table if not exists schema_migrations (version integer primary key not null, name text not null, applied_at text not null)`.execute(
      transaction,
    );
    const applied = await transaction.selectFrom("schema_migrations").select(["version", "name"]).orderBy("version").execute();
    const newest = applied.at(-1);
    const known = migrations.at(-1)?.version ?? 0;
    if (newest !== undefined && newest.version > known) {
      throw new TorporError(
        "storage_failed",
        `the store ${path} has schema ${newest.version} (${newest.name}), this Torpor knows up to ${known}`,
        {
          hint: "start the newer Torpor that made it",
        },
      );
    }
    for (const migration of migrations.filter(({ version }) => version > (newest?.version ?? 0))) {
      await migration.up(transaction);
      const { version, name } = migration;
      await transaction.insertInto("schema_migrations").values({ version, name, applied_at: new Date().toISOString() }).execute();
    }
  });
}
