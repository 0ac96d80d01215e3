import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as passes } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { PostgresServer } from "../../../packages/daemon/src/stores/testing/postgres-server.ts";
import { hostAgrees } from "../harness/holdings.ts";
import { post } from "../harness/post.ts";
import { removeAll } from "../harness/remove-all.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { goesOn, startWitness, type Witness } from "../harness/witness.ts";

const directory = mkdtempSync(path.join(tmpdir(), "torpor-postgres-daemon-"));
const armed = path.join(directory, "armed");
const name = "base";
let server: PostgresServer;
let daemon: TestDaemon;
let witness: Witness;

beforeAll(async () => {
  server = await PostgresServer.start();
  daemon = await TestDaemon.start({ args: ["--store", await server.database()], env: { TORPOR_FAILPOINT: armed } });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});
beforeEach(async () => {
  await removeAll(daemon.client);
  await daemon.client.create({ image: "debian", name });
  witness = await startWitness(daemon.client, name);
});

test("a daemon on PostgreSQL that is killed in a pause: the next one finishes it, and the same call under its key has that answer (A01)", async () => {
  const call = () => post(daemon.socket, `/v1/sandboxes/${name}/pause`, { "idempotency-key": "pause-1" });
  writeFileSync(armed, "pause.capture");
  const pausing = call().catch((error: unknown) => error);
  await daemon.ended();
  await pausing;
  await daemon.launch();
  expect(await daemon.client.get(name)).toMatchObject({ state: "paused", operation: null });
  for (const answer of await Promise.all(Array.from({ length: 10 }, call))) {
    expect(answer).toMatchObject({ status: 200, body: { operation: { kind: "pause", status: "succeeded", attempt: 2 } } });
  }
  expect(await daemon.client.operations(name)).toHaveLength(2);
  await daemon.client.resume(name, { memory: "require" });
  await goesOn(daemon.client, name, witness);
  await hostAgrees(daemon);
});

test("PostgreSQL is lost for 15 s: operations are delayed and none breaks, and sandboxes go on", async () => {
  const { client } = daemon;
  let over = false;
  const cycling = (async () => {
    let longestMs = 0;
    while (!over) {
      const asked = performance.now();
      await client.pause(name);
      await client.resume(name, { memory: "require" });
      longestMs = Math.max(longestMs, performance.now() - asked);
    }
    return longestMs;
  })();
  await client.create({ image: "debian", name: "other" });
  await server.lose();
  const creating = client.create({ image: "debian", name: "late" });
  const listing = client.list();
  // What is lost is lost for a time: that is the fault.
  await passes(15_000);
  await server.begin();
  expect((await creating).operation.status).toBe("succeeded");
  expect((await listing).map((sandbox) => sandbox.name).sort()).toEqual(expect.arrayContaining([name, "other"]));
  over = true;
  expect(await cycling).toBeGreaterThan(10_000);
  for (const { id, state, operation } of await client.list()) {
    expect({ state, operation }).toEqual({ state: "running", operation: null });
    expect((await client.operations(id)).filter(({ status }) => status !== "succeeded")).toEqual([]);
  }
  await goesOn(client, name, witness);
  await hostAgrees(daemon);
});
