import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeConformance } from "@torpor/core/testing";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqliteStore } from "./sqlite-store.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "torpor-store-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

storeConformance("SQLite", async () => {
  const path = join(directory, "torpor.db");
  return { store: await openSqliteStore(path), reopen: () => openSqliteStore(path) };
});

describe("the SQLite store", () => {
  test("has the schema of the committed dump", async () => {
    const path = join(directory, "torpor.db");
    await (await openSqliteStore(path)).close();
    expect(dump(path)).toBe(await readFile(join(import.meta.dirname, "schema.sql"), "utf8"));
  });

  test("opens twice with the same content and no second migration", async () => {
    const path = join(directory, "torpor.db");
    await (await openSqliteStore(path)).close();
    await (await openSqliteStore(path)).close();
    expect(dump(path)).toContain("schema_migrations");
  });

  test("refuses a schema that a newer Torpor made, and names it", async () => {
    const path = join(directory, "torpor.db");
    await (await openSqliteStore(path)).close();
    const database = new Database(path);
    database.prepare("insert into schema_migrations values (99, 'from the future', '2030-01-01')").run();
    database.close();
    await expect(openSqliteStore(path)).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining("schema 99 (from the future)"),
    });
  });

  test("says which file is no store", async () => {
    const path = join(directory, "missing", "torpor.db");
    await expect(openSqliteStore(path)).rejects.toThrow(/directory does not exist|unable to open/);
  });
});

function dump(path: string): string {
  const database = new Database(path, { readonly: true });
  const rows = database.prepare("select sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by name").all() as {
    sql: string;
  }[];
  database.close();
  return rows.map(({ sql }) => `${sql};\n`).join("");
}
