import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Store } from "@torpor/core";
import { eventsConformance, operationRecord, outboxConformance, sandboxRecord, storeConformance } from "@torpor/core/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { migrationsConformance } from "../testing/migrations-conformance.ts";
import { PostgresServer } from "../testing/postgres-server.ts";
import { openPostgresStore, placeOf } from "./postgres-store.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

const instance = "0123abcd";
const open = (url: string): Promise<Store> => openPostgresStore(url, { instance });

for (const conformance of [storeConformance, eventsConformance, outboxConformance])
  conformance("PostgreSQL", async () => {
    const url = await server.database();
    return { store: await open(url), reopen: () => open(url) };
  });

const newest = () => readFile(join(import.meta.dirname, "schema.sql"), "utf8");

migrationsConformance("postgres", {
  newest,
  load: async (text) => {
    const url = await server.database();
    await server.query(new URL(url).pathname.slice(1), text);
    return { open: () => open(url), schema: () => server.dump(url) };
  },
});

describe("the PostgreSQL store", () => {
  test("has the schema of the committed dump", async () => {
    const url = await server.database();
    await (await open(url)).close();
    expect(await server.dump(url)).toBe(await newest());
  });

  test("is installed once by twenty at the same time", async () => {
    const url = await server.database();
    const stores = await Promise.all(Array.from({ length: 20 }, () => open(url)));
    await stores[0]?.commit({ sandboxes: [sandboxRecord()] });
    for (const store of stores) expect(await store.listSandboxes()).toHaveLength(1);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("refuses a schema that a newer Torpor made, names it, and touches nothing", async () => {
    const url = await server.database();
    await (await open(url)).close();
    const name = new URL(url).pathname.slice(1);
    await server.query(name, "insert into schema_migrations values (99, 'from the future', '2030-01-01')");
    const before = await server.dump(url);
    await expect(open(url)).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining("schema 99 (from the future)"),
    });
    expect(await server.dump(url)).toBe(before);
  });

  test("shows no event before one with a lower number, however long the other's commit takes", async () => {
    const url = await server.database();
    const store = await open(url);
    const name = new URL(url).pathname.slice(1);
    // The slow one has its number, and waits for this lock before its commit.
    await server.query(
      name,
      `create function wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(1); return new; end $$;
       create trigger slow after insert on events for each row when (new.type = 'slow') execute function wait();`,
    );
    const holder = await server.connect(name);
    onTestFinished(() => holder.end());
    await holder.query("select pg_advisory_lock(1)");
    let visible = false;
    const blocked = async (count: number) => {
      const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'";
      while (!visible && (await holder.query(waiting)).rows.length < count);
    };
    const slow = store.commit({ events: [anEvent("slow")] });
    await blocked(1);
    const fast = store.commit({ events: [anEvent("fast")] }).then(() => {
      visible = true;
    });
    await blocked(2);
    expect(visible).toBe(false);
    expect(await store.listEvents({})).toEqual([]);
    await holder.query("select pg_advisory_unlock(1)");
    await Promise.all([slow, fast]);
    expect((await store.listEvents({})).map(({ type }) => type)).toEqual(["slow", "fast"]);
    await store.close();
  });

  test("serves one data directory", async () => {
    const url = await server.database();
    await (await open(url)).close();
    await expect(openPostgresStore(url, { instance: "ffff0000" })).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringMatching(/belongs to another data directory \(instance 0123abcd/),
    });
  });

  test("says what is not there, and never the password", async () => {
    const there = new URL(await server.database());
    there.pathname = "/nothing";
    there.password = "hunter2";
    const refused = await openPostgresStore(there.href, { instance, startLimitMs: 100 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining('database "nothing" does not exist (3D000)'),
    });
    const away = await openPostgresStore("postgres://u:hunter2@127.0.0.1:1/x", { instance, startLimitMs: 100 }).catch(
      (error: unknown) => error,
    );
    expect(away).toMatchObject({
      code: "storage_failed",
      message: expect.stringMatching(/^the store postgres:\/\/127.0.0.1:1\/x can't be reached: .*ECONNREFUSED/),
    });
    for (const error of [refused, away] as Error[]) expect(`${error.message} ${JSON.stringify(error)}`).not.toContain("hunter2");
    expect(placeOf("postgres://u:hunter2@db.example:5432/torpor?sslmode=require")).toBe("postgres://db.example:5432/torpor");
  });
});

describe("when the server goes away", () => {
  test("reads and commits wait for it, and each commit is there once", { timeout: 60_000 }, async () => {
    const url = await server.database();
    const store = await open(url);
    await store.commit({ sandboxes: [sandboxRecord()], operations: [operationRecord()] });
    let version = 1;
    const lost = server.lose();
    const commits = (async () => {
      for (; version <= 40; version++)
        await store.commit({ operations: [operationRecord({ version })], events: [anEvent(String(version))] });
    })();
    await lost;
    const reading = store.findSandbox("base");
    await server.begin();
    await commits;
    expect(await reading).toMatchObject({ id: "sb_a" });
    expect(await store.findOperation("op_a")).toMatchObject({ version: 41 });
    const types = (await store.listEvents({})).map(({ type }) => type);
    expect(types).toEqual(Array.from({ length: 40 }, (_, index) => String(index + 1)));
    await store.close();
  });

  test("it ends with a clear failure when it stays away", async () => {
    const url = await server.database();
    const store = await openPostgresStore(url, { instance, commitLimitMs: 200, readLimitMs: 200 });
    await server.lose();
    try {
      const told = { code: "storage_failed", message: expect.stringContaining("can't be reached") };
      await expect(store.commit({ sandboxes: [sandboxRecord()] })).rejects.toMatchObject(told);
      await expect(store.listSandboxes()).rejects.toMatchObject(told);
    } finally {
      await server.begin();
    }
    expect(await store.listSandboxes()).toEqual([]);
    await store.close();
  });
});

function anEvent(type: string) {
  return { sandboxId: "sb_a", operationId: null, type, data: {}, at: "2026-01-01T00:00:00.000Z" };
}
