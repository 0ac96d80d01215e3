import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "@torpor/core";
import { describeWalk, walk, walkSeed } from "@torpor/core/testing/walk";
import { afterAll, beforeAll, describe, test } from "vitest";
import { openPostgresStore } from "./postgres/postgres-store.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";
import { PostgresServer } from "./testing/postgres-server.ts";

/** The walk in memory has many more runs; here it is the stores that are looked at. */
const runs = Number(process.env.TORPOR_WALKS ?? 20);

let server: PostgresServer;
let directory: string;
beforeAll(async () => {
  server = await PostgresServer.start();
  directory = await mkdtemp(join(tmpdir(), "torpor-walk-"));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

describe("whatever is asked, and wherever the daemon is killed, over a real store", () => {
  test("SQLite", { timeout: 600_000 }, () => {
    let count = 0;
    return walkOver(() => openSqliteStore(join(directory, `${++count}.db`)));
  });

  test("PostgreSQL", { timeout: 600_000 }, () => walkOver(async () => openPostgresStore(await server.database(), { instance: "walk" })));
});

async function walkOver(open: () => Promise<Store>): Promise<void> {
  let last: Store | undefined;
  try {
    const seed = walkSeed(process.env.TORPOR_WALK_SEED);
    const fresh = async () => {
      await last?.close();
      last = await open();
      return last;
    };
    console.log(describeWalk(await walk(fresh, { runs, seed }), seed));
  } finally {
    await last?.close();
  }
}
