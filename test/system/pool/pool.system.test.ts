import { mkdtemp, open, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as passes } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createPoolDisks } from "../../../packages/daemon/src/disks/pool-disks.ts";
import { run } from "../../../packages/daemon/src/host/spawn.ts";
import type { Pool } from "../../../packages/daemon/src/pool/pool.ts";
import { mib } from "../harness/content.ts";
import { temporaryPool } from "./temporary-pool.ts";

test("a host file system without reflinks gets an XFS pool file", async () => {
  await using it = await temporaryPool();
  expect(await it.pool.info()).toMatchObject({ fileSystem: "xfs", reflink: true, loopBacked: true, warning: null });
  expect(await readdir(it.pool.path)).toEqual(expect.arrayContaining(["images", "disks", "checkpoints", "tmp"]));
  expect((await stat(path.join(it.dataDirectory, "pool.img"))).blocks * 512).toBeLessThan(100 * 1024 ** 2);
});

test("a pool that is still mounted is used again, and what was unfinished is gone", async () => {
  await using it = await temporaryPool();
  await writeFile(path.join(it.pool.directory("disks"), "kept"), "kept");
  await writeFile(path.join(it.pool.directory("tmp"), "half"), "half");
  const device = await deviceOf(it.dataDirectory);
  const pool = await it.reopen({ unmount: false });
  expect(await deviceOf(it.dataDirectory)).toBe(device);
  expect(await readdir(pool.directory("tmp"))).toEqual([]);
  expect(await readFile(path.join(pool.directory("disks"), "kept"), "utf8")).toBe("kept");
});

test("an unmounted pool gives its loop device back and is mounted again", async () => {
  await using it = await temporaryPool();
  await writeFile(path.join(it.pool.directory("disks"), "kept"), "kept");
  await it.pool.close({ unmount: true });
  expect(await deviceOf(it.dataDirectory)).toBe("");
  const pool = await it.reopen({ unmount: true });
  expect(await readFile(path.join(pool.directory("disks"), "kept"), "utf8")).toBe("kept");
});

test("a pool that somebody is about to leave is unmounted once they have", async () => {
  await using it = await temporaryPool();
  const leaving = await open(path.join(it.pool.directory("disks"), "used"), "w");
  const closing = it.pool.close({ unmount: true });
  await passes(200);
  await leaving.close();
  await closing;
  expect(await deviceOf(it.dataDirectory)).toBe("");
});

test("a pool file that was half made is made anew", async () => {
  await using it = await temporaryPool();
  await it.pool.close({ unmount: true });
  const file = path.join(it.dataDirectory, "pool.img");
  await rename(file, `${file}.partial`);
  await run("truncate", ["--size=1M", `${file}.partial`]);
  const pool = await it.reopen({ unmount: true });
  expect(await pool.info()).toMatchObject({ fileSystem: "xfs", sizeBytes: expect.toSatisfy((size: number) => size > 3 * 1024 ** 3) });
});

test("a device that a killed daemon attached but never mounted is used", async () => {
  await using it = await temporaryPool();
  await it.pool.close({ unmount: true });
  const device = (await run("losetup", ["--find", "--show", path.join(it.dataDirectory, "pool.img")])).stdout.trim();
  await it.reopen({ unmount: true });
  expect(await deviceOf(it.dataDirectory)).toBe(device);
});

test("removed content gives its space back to the host's file system, but for a little that the next checkpoint is written into", async () => {
  await using it = await temporaryPool({ spareBytes: 64 * mib });
  await writeRandom(it.pool, "kept", 32);
  await writeRandom(it.pool, "big", 400);
  const before = await heldBytes(it.dataDirectory);
  const digest = await digestOf(it.pool, "kept");
  await it.pool.remove(path.join(it.pool.directory("disks"), "big"));
  const givenBytes = await vi.waitUntil(
    async () => {
      const bytes = before - (await heldBytes(it.dataDirectory));
      return bytes > 330 * mib && bytes;
    },
    { timeout: 20_000 },
  );
  // In steps of 64 MiB: one more would be 384.
  expect(givenBytes).toBeLessThan(345 * mib);
  expect(await digestOf(it.pool, "kept")).toBe(digest);
});

test("space that an earlier daemon left in the pool's file is given back", async () => {
  await using it = await temporaryPool();
  await writeRandom(it.pool, "big", 200);
  const before = await heldBytes(it.dataDirectory);
  await rm(path.join(it.pool.directory("disks"), "big"));
  await run("sync", ["--file-system", it.pool.path]);
  await it.reopen({ unmount: true, spareBytes: 0 });
  await vi.waitFor(async () => expect(before - (await heldBytes(it.dataDirectory))).toBeGreaterThan(190 * mib), { timeout: 20_000 });
});

test("another file system at the pool's place is refused by name", async () => {
  await using it = await temporaryPool();
  await it.pool.close({ unmount: true });
  await run("mount", ["-t", "tmpfs", "foreign", it.pool.path]);
  try {
    await expect(it.reopen({ unmount: false })).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining("foreign"),
    });
  } finally {
    await run("umount", [it.pool.path]);
  }
});

test("without reflinks and without mkfs.xfs copies are real ones, said aloud, and stay sparse", async () => {
  const programs = await mkdtemp(path.join(tmpdir(), "torpor-programs-"));
  for (const program of ["cp", "mkfs.ext4"]) {
    await symlink((await run("which", [program])).stdout.trim(), path.join(programs, program));
  }
  vi.stubEnv("PATH", programs);
  try {
    await using it = await temporaryPool();
    expect(await it.pool.info()).toMatchObject({ reflink: false, loopBacked: false, warning: expect.stringContaining("package xfsprogs") });
    const disks = createPoolDisks(it.pool);
    await disks.create("dk_one", 1024 ** 3);
    await disks.clone("dk_one", "dk_two");
    expect((await stat(disks.locate("dk_two"))).size).toBe(1024 ** 3);
    expect(await disks.storedBytes("dk_two")).toBeLessThan(4 * 1024 ** 2);
  } finally {
    vi.unstubAllEnvs();
    await rm(programs, { recursive: true });
  }
});

async function writeRandom(pool: Pool, name: string, mibs: number): Promise<void> {
  await run("dd", ["if=/dev/urandom", `of=${path.join(pool.directory("disks"), name)}`, "bs=1M", `count=${mibs}`, "conv=fsync"]);
}

async function digestOf(pool: Pool, name: string): Promise<string> {
  return (await run("sha256sum", [path.join(pool.directory("disks"), name)])).stdout;
}

async function heldBytes(dataDirectory: string): Promise<number> {
  return (await stat(path.join(dataDirectory, "pool.img"))).blocks * 512;
}

async function deviceOf(dataDirectory: string): Promise<string> {
  const { stdout } = await run("losetup", ["--associated", path.join(dataDirectory, "pool.img"), "--noheadings", "--output", "NAME"]);
  return stdout.trim();
}
