import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TorporClient } from "@torpor/sdk";
import { expect, onTestFinished, test } from "vitest";
import { fill } from "../harness/filler.ts";
import { eventually, output } from "../harness/inside.ts";
import { hostRuntime, killHard } from "../harness/runtime.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { checkDisks, found, startWriter, told } from "../harness/writers.ts";

const mib = 2 ** 20;
/** Room for some seconds of writing beyond the reserve. */
const roomBytes = 250 * mib;
const writers = ["synced", "buffered"] as const;

test("sandboxes that write the pool full are held before anything is lost, also without a daemon, and go on when there is room", async () => {
  await using daemon = await TestDaemon.start({ args: ["--pool-size", String(4096 * mib)] });
  const pool = path.join(daemon.data, "pool");
  await create(daemon.client, ...writers, "quiet");
  const free = fill(pool, (await reserveBytes(daemon.client)) + roomBytes);
  await write(daemon.client);
  const directories = await Promise.all(writers.map(async (name) => (await hostRuntime(daemon.client, daemon.instance, name)).directory));
  // Nobody but the shims is there when it matters.
  await daemon.kill();
  for (const directory of directories)
    await eventually(
      async () => JSON.parse(readFileSync(path.join(directory, "state.json"), "utf8")) as { hold: object | null },
      ({ hold }) => hold !== null,
    );
  expect(freeBytes(pool)).toBeGreaterThan(0);
  await daemon.launch();
  const { client } = daemon;
  expect(await client.list()).toMatchObject([
    { name: "synced", state: "running", held: { reason: "disk_full" } },
    { name: "buffered", state: "running", held: { reason: "disk_full" } },
    { name: "quiet", state: "running", held: null },
  ]);
  for (const name of writers) {
    expect((await client.get(name)).held?.lost).toBeUndefined();
    await expect(client.exec(name, { argv: ["true"] })).rejects.toMatchObject({ code: "disk_full", details: { held: true } });
    await expect(client.pause(name)).rejects.toMatchObject({ code: "disk_full" });
    expect(await client.get(name)).toMatchObject({ state: "running" });
  }
  expect(await output(client, "quiet", "echo here")).toBe("here");
  await expect(client.create({ image: "debian", name: "another" })).rejects.toMatchObject({ code: "disk_full" });
  await killHard((await hostRuntime(client, daemon.instance, "buffered")).shimPid);
  free();
  await goOn(client);
  for (const name of writers) {
    await haveAll(client, name);
    await client.pause(name);
    await client.resume(name, { memory: "require" });
    await haveAll(client, name);
  }
  await areClean(daemon);
  const types = (await client.events("synced")).map(({ type }) => type);
  expect(types.filter((type) => type === "sandbox.held")).toHaveLength(1);
  expect(types).toContain("sandbox.released");
});

test.each(["gvisor", "runc"])("the same where the pool is a file and its host's file system is what is full: %s", async (engine) => {
  const host = smallFileSystem(4096 * mib);
  await using daemon = await TestDaemon.start({
    data: host,
    args: ["--pool-size", String(8192 * mib), ...(engine === "runc" ? ["--engine", engine] : [])],
  });
  const { client } = daemon;
  await create(client, ...writers);
  // 256 MiB are the host's own.
  const free = fill(host, (await reserveBytes(client)) + 256 * mib + roomBytes);
  await write(client);
  for (const name of writers)
    await eventually(
      () => client.get(name),
      ({ held }) => held != null && held.lost === undefined,
    );
  expect(freeBytes(host)).toBeGreaterThan(0);
  await expect(client.exec("synced", { argv: ["true"] })).rejects.toMatchObject({ code: "disk_full" });
  free();
  await goOn(client);
  for (const name of writers) await haveAll(client, name);
  await areClean(daemon);
});

async function create(client: TorporClient, ...names: string[]): Promise<void> {
  for (const name of names) await client.create({ image: "debian", name });
}

async function write(client: TorporClient): Promise<void> {
  await startWriter(client, "synced", "sync");
  await startWriter(client, "buffered", "buffered");
}

/** The same processes go on from where they were, and are then stopped: there is not that much more room. */
async function goOn(client: TorporClient): Promise<void> {
  const look = "a=$(cat /dev/shm/told); until [ $(cat /dev/shm/told) -gt $a ]; do sleep 0.1; done; pkill -STOP python3";
  await Promise.all(
    writers.map(async (name) => {
      await eventually(
        () => client.get(name),
        ({ held }) => held === null,
      );
      await output(client, name, look);
    }),
  );
}

async function haveAll(client: TorporClient, name: string): Promise<void> {
  const count = await told(client, name);
  expect(count).toBeGreaterThan(0);
  expect(await found(client, name)).toBeGreaterThanOrEqual(count);
}

async function areClean({ client, data }: TestDaemon): Promise<void> {
  for (const { name } of await client.list()) await client.stop(name, { graceMs: 0 });
  expect(checkDisks(data)).toEqual([]);
}

/** ext4 has no reflinks, so a data directory there has its pool in a file. */
function smallFileSystem(sizeBytes: number): string {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-host-"));
  const [file, mount] = [path.join(directory, "image"), path.join(directory, "mount")];
  mkdirSync(mount);
  execFileSync("truncate", ["--size", String(sizeBytes), file]);
  execFileSync("mkfs.ext4", ["-q", "-m", "0", file]);
  execFileSync("mount", ["-o", "loop", file, mount]);
  onTestFinished(() => {
    execFileSync("umount", [mount]);
    rmSync(directory, { recursive: true });
  });
  const data = path.join(mount, "data");
  mkdirSync(data);
  return data;
}

async function reserveBytes(client: TorporClient): Promise<number> {
  return (await client.info()).pool.reserveBytes ?? 0;
}

function freeBytes(place: string): number {
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize;
}
