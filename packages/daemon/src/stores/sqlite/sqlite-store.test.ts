import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { eventsConformance, operationRecord, outboxConformance, sandboxRecord, storeConformance } from "@torpor/core/testing";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { migrationsConformance } from "../testing/migrations-conformance.ts";
import { openSqliteStore } from "./sqlite-store.ts";

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "torpor-store-"));
  path = join(directory, "torpor.db");
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

const newest = () => readFile(join(import.meta.dirname, "schema.sql"), "utf8");

for (const conformance of [storeConformance, eventsConformance, outboxConformance])
  conformance("SQLite", async () => ({ store: await openSqliteStore(path), reopen: () => openSqliteStore(path) }));

migrationsConformance("sqlite", {
  newest,
  load: async (text) => {
    const database = new Database(path);
    database.exec(text);
    database.close();
    return { open: () => openSqliteStore(path), schema: async () => dump(path) };
  },
});

describe("the SQLite store", () => {
  test("has the schema of the committed dump", async () => {
    await (await openSqliteStore(path)).close();
    expect(dump(path)).toBe(await newest());
  });

  test("can be read by its owner only, also one that an earlier version left open to all", async () => {
    const modes = () => Promise.all(["", "-wal", "-shm"].map(async (suffix) => (await stat(path + suffix)).mode & 0o777));
    const store = await openSqliteStore(path);
    expect(await modes()).toEqual([0o600, 0o600, 0o600]);
    await store.close();
    await chmod(path, 0o644);
    const again = await openSqliteStore(path);
    expect(await modes()).toEqual([0o600, 0o600, 0o600]);
    await again.close();
  });

  test("is installed once by twenty at the same time", async () => {
    const stores = await Promise.all(Array.from({ length: 20 }, () => openSqliteStore(path)));
    await stores[0]?.commit({ sandboxes: [sandboxRecord()] });
    for (const store of stores) expect(await store.listSandboxes()).toHaveLength(1);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("refuses a schema that a newer Torpor made, names it, and touches nothing", async () => {
    await (await openSqliteStore(path)).close();
    const database = new Database(path);
    database.prepare("insert into schema_migrations values (99, 'from the future', '2030-01-01')").run();
    database.pragma("journal_mode = DELETE");
    database.close();
    const before = dump(path);
    await expect(openSqliteStore(path)).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining("schema 99 (from the future)"),
    });
    expect(dump(path)).toBe(before);
  });

  test("knows the parents of sandboxes that an earlier Torpor forked", async () => {
    const database = new Database(path);
    database.exec(await readFile(join(import.meta.dirname, "../testing/fixtures/0002.sqlite.sql"), "utf8"));
    const child = sandboxRecord({ id: "sb_child", name: "child", parentId: "sb_aaaaaaaaaaaaaaaa" });
    database.prepare("insert into sandboxes values ('sb_child', 1, 'child', null, '2026', ?)").run(JSON.stringify(child));
    database.close();
    const store = await openSqliteStore(path);
    const parent = await store.findSandbox("base");
    await store.commit({ removed: [parent!] });
    expect(await store.listAncestors()).toMatchObject([{ id: "sb_aaaaaaaaaaaaaaaa", name: "base" }]);
    await store.close();
  });

  test("says which file is no store", async () => {
    const missing = {
      code: "storage_failed",
      message: expect.stringMatching(/missing\/torpor.db can't be opened: .*directory does not exist/),
    };
    await expect(openSqliteStore(join(directory, "missing", "torpor.db"))).rejects.toMatchObject(missing);
    await expect(openSqliteStore(import.meta.filename)).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining("file is not a database (SQLITE_NOTADB)"),
    });
  });

  test("a thousand operations leave it under 10 MB, and their history can be forgotten", async () => {
    const store = await openSqliteStore(path);
    await store.commit({ sandboxes: [sandboxRecord()] });
    const at = "2026-01-01T00:00:00.000Z";
    const result = {
      phases: { reserve: 1.5, quiesce: 2.25, freeze: 3, capture: 44.1, seal: 5, reclaim: 31.7 },
      memory: true,
      checkpointBytes: 5_872_025,
    };
    for (let index = 1; index <= 1000; index++) {
      const id = `op_${index}`;
      await store.commit({ operations: [operationRecord({ id, notes: { capture: { restore: { spec: "x".repeat(4000) } } } })] });
      const events = ["sandbox.paused", "memory_kept"].map((type) => ({ sandboxId: "sb_a", operationId: id, type, data: result, at }));
      const keys = [
        {
          key: id,
          scope: "pause base",
          fingerprint: "f".repeat(64),
          operationId: id,
          answer: null,
          createdAt: at,
          expiresAt: "2026-01-02T00:00:00.000Z",
        },
      ];
      await store.commit({ operations: [operationRecord({ id, version: 1, status: "succeeded", result, endedAt: at })], events, keys });
    }
    const sizes = await Promise.all(["", "-wal"].map(async (suffix) => (await stat(path + suffix)).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(10_000_000);
    const retention = {
      now: "2026-01-03T00:00:00.000Z",
      before: "2026-01-02T00:00:00.000Z",
      undeliveredBefore: "",
      perSandbox: 1000,
      batch: 500,
    };
    let deleted = 0;
    for (let count = -1; count !== 0; deleted += count) count = await store.prune(retention);
    expect(deleted).toBe(4000);
    await store.close();
  });
});

describe("a SQLite file that another process holds", () => {
  test("is a clear failure at the start", async () => {
    await (await openSqliteStore(path)).close();
    const other = new Database(path);
    // As a tool that is at work on the file: nobody else may even read.
    other.pragma("locking_mode = EXCLUSIVE");
    other.exec("begin exclusive");
    await expect(openSqliteStore(path, { busyMs: 100 })).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringMatching(/torpor.db failed: database is locked \(SQLITE_BUSY/),
      hint: expect.stringContaining("Another process holds the file"),
    });
    other.close();
  });

  test("is waited for at run time", async () => {
    const store = await openSqliteStore(path);
    const heldMs = 300;
    const asking = new Int32Array(new SharedArrayBuffer(4));
    const holder = new Worker(
      `const { workerData, parentPort } = require("node:worker_threads");
       const database = new (require("better-sqlite3"))(workerData.path);
       database.exec("begin immediate");
       parentPort.postMessage("held");
       Atomics.wait(workerData.asking, 0, 0);
       Atomics.wait(workerData.asking, 0, 1, workerData.heldMs);
       database.exec("commit");
       database.close();`,
      { eval: true, workerData: { path, heldMs, asking } },
    );
    await new Promise((resolve) => holder.once("message", resolve));
    const began = performance.now();
    Atomics.store(asking, 0, 1);
    Atomics.notify(asking, 0);
    await store.commit({ sandboxes: [sandboxRecord()] });
    // Clocks of timers are coarser.
    expect(performance.now() - began).toBeGreaterThan(heldMs - 20);
    expect(await store.findSandbox("base")).toMatchObject({ version: 1 });
    await holder.terminate();
    await store.close();
  });
});

test.runIf(process.getuid?.() === 0)("a SQLite file that can't be written is a clear failure at the start", async () => {
  await (await openSqliteStore(path)).close();
  await chmod(directory, 0o755);
  await chmod(path, 0o444);
  const script = `const { openSqliteStore } = await import(${JSON.stringify(import.meta.resolve("./sqlite-store.ts"))});
    await openSqliteStore(${JSON.stringify(path)}).catch((error) => console.log(JSON.stringify({ code: error.code, message: error.message, hint: error.hint })));`;
  const nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
  const node = [process.execPath, "--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)("setpriv", [...nobody, ...node], { cwd: import.meta.dirname });
  expect(JSON.parse(stdout)).toMatchObject({
    code: "storage_failed",
    message: expect.stringMatching(/readonly database|unable to open/),
    hint: expect.stringContaining("writable for torpord"),
  });
});

function dump(file: string): string {
  const database = new Database(file, { readonly: true });
  const rows = database.prepare("select sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by name").all() as {
    sql: string;
  }[];
  database.close();
  return rows.map(({ sql }) => `${sql};\n`).join("");
}
