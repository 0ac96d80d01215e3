import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { createPoolDisks } from "../../../packages/daemon/src/disks/pool-disks.ts";
import { run } from "../../../packages/daemon/src/host/spawn.ts";
import { temporaryPool } from "./temporary-pool.ts";

const gib = 1024 ** 3;

test("a new disk is an empty ext4 that stores little", async () => {
  await using it = await temporaryPool();
  const disks = createPoolDisks(it.pool);
  await disks.create("dk_one", 10 * gib);
  expect((await stat(disks.locate("dk_one"))).size).toBe(10 * gib);
  expect(await disks.storedBytes("dk_one")).toBeLessThan(4 * 1024 ** 2);
  const { stdout } = await run("dumpe2fs", [disks.locate("dk_one")]);
  // Else the kernel would zero 160 MB in each disk once it is mounted.
  expect(stdout.match(/^Group \d+:/gm)?.length).toBe(stdout.match(/ITABLE_ZEROED/g)?.length);
  await mounted(disks.locate("dk_one"), async (root) => {
    await writeFile(path.join(root, "file"), "content");
  });
  expect(await disks.storedBytes("dk_one")).toBeLessThan(8 * 1024 ** 2);
});

test("a clone has the files of its source and then its own", async () => {
  await using it = await temporaryPool();
  const disks = createPoolDisks(it.pool);
  await disks.create("dk_one", gib);
  await mounted(disks.locate("dk_one"), async (root) => {
    await writeFile(path.join(root, "shared"), "from the source");
  });
  await disks.clone("dk_one", "dk_two");
  await mounted(disks.locate("dk_one"), async (root) => {
    await writeFile(path.join(root, "shared"), "changed later");
  });
  await mounted(disks.locate("dk_two"), async (root) => {
    expect(await readFile(path.join(root, "shared"), "utf8")).toBe("from the source");
  });
  expect((await disks.list()).sort()).toEqual(["dk_one", "dk_two"]);
});

test("a repeat changes nothing, another size is refused", async () => {
  await using it = await temporaryPool();
  const disks = createPoolDisks(it.pool);
  await disks.create("dk_one", gib);
  await mounted(disks.locate("dk_one"), async (root) => {
    await writeFile(path.join(root, "file"), "kept");
  });
  await Promise.all([disks.create("dk_one", gib), disks.create("dk_one", gib)]);
  await mounted(disks.locate("dk_one"), async (root) => {
    expect(await readFile(path.join(root, "file"), "utf8")).toBe("kept");
  });
  await expect(disks.create("dk_one", 2 * gib)).rejects.toMatchObject({ code: "storage_failed" });
});

test("sizes out of bounds and ids that would be paths are refused", async () => {
  await using it = await temporaryPool();
  const disks = createPoolDisks(it.pool);
  await expect(disks.create("dk_one", 1024)).rejects.toMatchObject({ code: "invalid_request" });
  await expect(disks.create("../one", gib)).rejects.toMatchObject({ code: "invalid_request" });
  await expect(disks.clone("dk_none", "dk_two")).rejects.toMatchObject({ code: "storage_failed" });
});

test("a pool without room refuses a disk by the numbers", async () => {
  await using it = await temporaryPool({ sizeBytes: 512 * 1024 ** 2 });
  const disks = createPoolDisks(it.pool);
  await run("fallocate", ["--length", String((await it.pool.freeBytes()) - 4 * 1024 ** 2), path.join(it.pool.path, "filler")]);
  await expect(disks.create("dk_one", gib)).rejects.toMatchObject({ code: "disk_full" });
  expect(await disks.list()).toEqual([]);
});

async function mounted(file: string, work: (root: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(path.join(tmpdir(), "torpor-disk-"));
  await mkdir(root, { recursive: true });
  await run("mount", ["-o", "loop", file, root]);
  try {
    await work(root);
  } finally {
    await run("umount", [root]);
    await rm(root, { recursive: true });
  }
}
