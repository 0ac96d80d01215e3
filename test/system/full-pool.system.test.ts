import { rmSync, statfsSync } from "node:fs";
import path from "node:path";
import type { Sandbox } from "@torpor/contract";
import type { TorporClient } from "@torpor/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fill } from "./harness/filler.ts";
import { eventually, output } from "./harness/inside.ts";
import { TestDaemon } from "./harness/test-daemon.ts";
import { checkDisks, found, startWriter, told } from "./harness/writers.ts";

const mib = 2 ** 20;
let daemon: TestDaemon;
let client: TorporClient;

beforeAll(async () => {
  daemon = await TestDaemon.start({ args: ["--pool-size", String(2048 * mib)] });
});
afterAll(() => daemon[Symbol.asyncDispose]());

/** Room on the pool for some seconds of writing, so that a test is over soon. */
const roomBytes = 400 * mib;

test("sandboxes that write the pool full are held before anything is lost, also without a daemon, and go on when there is room", async () => {
  client = daemon.client;
  for (const name of ["synced", "buffered", "quiet"]) await client.create({ image: "debian", name, resources: { memoryBytes: 512 * mib } });
  const pool = path.join(daemon.data, "pool");
  const free = fill(pool, (await reserveBytes()) + roomBytes);
  await startWriter(client, "synced", "sync");
  await startWriter(client, "buffered", "buffered");
  // Nobody but the shims is there when it matters.
  await daemon.kill();
  await eventually(
    async () => writing(pool),
    (bytes) => bytes === 0,
    60_000,
  );
  expect(freeBytes(pool)).toBeGreaterThan(0);
  await daemon.launch();
  client = daemon.client;
  expect(await client.list()).toMatchObject([
    { name: "synced", state: "running", held: { reason: "disk_full" } },
    { name: "buffered", state: "running", held: { reason: "disk_full" } },
    { name: "quiet", state: "running", held: null },
  ]);
  for (const name of ["synced", "buffered"]) {
    expect((await client.get(name)).held?.lost).toBeUndefined();
    await expect(client.exec(name, { argv: ["true"] })).rejects.toMatchObject({ code: "disk_full", details: { held: true } });
    await expect(client.pause(name)).rejects.toMatchObject({ code: "disk_full" });
    expect(await client.get(name)).toMatchObject({ state: "running" });
  }
  // Who does not write goes on.
  expect(await output(client, "quiet", "echo here")).toBe("here");
  await expect(client.create({ image: "debian", name: "another" })).rejects.toMatchObject({ code: "disk_full" });
  free();
  const before = await Promise.all(["synced", "buffered"].map((name) => goneOn(name)));
  // They write on, the same processes.
  for (const [at, name] of ["synced", "buffered"].entries())
    await eventually(
      () => told(client, name),
      (count) => count > (before[at] ?? 0),
    );
  for (const name of ["synced", "buffered"]) {
    await client.exec(name, { argv: ["pkill", "-STOP", "python3"] });
    expect(await found(client, name)).toBeGreaterThanOrEqual(await told(client, name));
    await client.pause(name);
    await client.resume(name, { memory: "require" });
    expect(await found(client, name)).toBeGreaterThanOrEqual(await told(client, name));
    await client.stop(name, { graceMs: 0 });
  }
  expect(checkDisks(daemon.data)).toEqual([]);
  const types = (await client.events("synced")).map(({ type }) => type);
  expect(types.filter((type) => type.startsWith("sandbox.held"))).toHaveLength(1);
  expect(types).toContain("sandbox.released");
});

async function goneOn(name: string): Promise<number> {
  await eventually<Sandbox>(
    () => client.get(name),
    ({ held }) => held == null,
    30_000,
  );
  return told(client, name);
}

async function reserveBytes(): Promise<number> {
  return (await client.info()).pool.reserveBytes ?? 0;
}

function freeBytes(place: string): number {
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize;
}

/** Bytes by which the room shrank in a second. */
async function writing(place: string): Promise<number> {
  const before = freeBytes(place);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return before - freeBytes(place);
}
void rmSync;
