import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Store } from "@torpor/core";
import { describe, expect, test } from "vitest";
import type { DialectName } from "../sql/columns.ts";
import { migrations } from "../sql/migrations/index.ts";

export interface MigrationsHarness {
  /** A new store that a version left, by the SQL of its dump. */
  readonly load: (dump: string) => Promise<{ readonly open: () => Promise<Store>; readonly schema: () => Promise<string> }>;
  /** Of the newest version, as it is committed. */
  readonly newest: () => Promise<string>;
}

const fixtures = join(import.meta.dirname, "fixtures");

/** A store that any earlier version left is brought up to date with all that is in it. */
export function migrationsConformance(dialect: DialectName, { load, newest }: MigrationsHarness): void {
  const earlier = migrations.slice(0, -1).map(({ version }) => String(version).padStart(4, "0"));

  describe(`a ${dialect} store of an earlier version`, () => {
    test.each(earlier)("of version %s has the newest schema afterwards, and its records", async (version) => {
      const { open, schema } = await load(await readFile(join(fixtures, `${version}.${dialect}.sql`), "utf8"));
      const store = await open();
      try {
        expect(columnsOf(await schema())).toEqual(columnsOf(await newest()));
        const sandbox = await store.findSandbox("base");
        expect(sandbox).toMatchObject({ id: "sb_aaaaaaaaaaaaaaaa", version: 1, state: "pausing", env: { A: "ü\u0000\n" } });
        expect(sandbox?.damage).toBeUndefined();
        expect((await store.listOperations("sb_aaaaaaaaaaaaaaaa")).map(({ id }) => id)).toEqual([
          "op_bbbbbbbbbbbbbbbb",
          "op_aaaaaaaaaaaaaaaa",
        ]);
        expect(await store.runningOperations()).toMatchObject([{ id: "op_bbbbbbbbbbbbbbbb", kind: "pause" }]);
        expect(await store.listEvents({})).toMatchObject([{ seq: 1, type: "sandbox.created" }]);
        // The end of the finished one is known, so that it can be forgotten.
        const retention = {
          now: "2026-02-02T00:00:00.000Z",
          before: "2026-02-01T00:00:00.000Z",
          undeliveredBefore: "",
          perSandbox: 10,
          batch: 10,
        };
        expect(await store.prune(retention)).toBe(2);
        expect((await store.listOperations("sb_aaaaaaaaaaaaaaaa")).map(({ id }) => id)).toEqual(["op_bbbbbbbbbbbbbbbb"]);
      } finally {
        await store.close();
      }
    });
  });
}

/** Statements in any order: a column that was added later stands last. */
function columnsOf(schema: string): string[] {
  return schema
    .split("\n")
    .map((line) => line.trim().replace(/,$/, ""))
    .sort();
}
