import { mkdtemp, open, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as passes } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createPoolDisks } from "../../../packages/daemon/src/disks/pool-disks.ts";
import { run } from "../../../packages/daemon/src/host/spawn.ts";
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

test("removed content gives its space back to the host's file system", async () => {
  await using it = await temporaryPool();
  const file = path.join(it.dataDirectory, "pool.img");
  const big = path.join(it.pool.directory("disks"), "big");
  await run("dd", ["if=/dev/zero", `of=${big}`, "bs=1M", "count=200", "conv=fsync"]);
  const before = (await stat(file)).blocks * 512;
  await it.pool.remove(big);
  await it.pool.close({ unmount: true });
  expect(before - (await stat(file)).blocks * 512).toBeGreaterThan(190 * 1024 ** 2);
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

async function deviceOf(dataDirectory: string): Promise<string> {
  const { stdout } = await run("losetup", ["--associated", path.join(dataDirectory, "pool.img"), "--noheadings", "--output", "NAME"]);
  return stdout.trim();
}
