import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { checkpointsConformance, disksConformance, imagesConformance } from "@torpor/core/testing";
import { createPoolCheckpoints } from "../../../packages/daemon/src/checkpoints/pool-checkpoints.ts";
import { createPoolDisks } from "../../../packages/daemon/src/disks/pool-disks.ts";
import { run } from "../../../packages/daemon/src/host/spawn.ts";
import { temporaryImages } from "../images/temporary-images.ts";
import { temporaryPool } from "./temporary-pool.ts";

disksConformance("the pool's disks", async () => {
  const it = await temporaryPool();
  const disks = createPoolDisks(it.pool);
  return {
    disks,
    write: (id, text) => mounted(disks.locate(id), (root) => writeFile(path.join(root, "file"), text)),
    read: (id) => mounted(disks.locate(id), (root) => readFile(path.join(root, "file"), "utf8")),
    dispose: () => it[Symbol.asyncDispose](),
  };
});

checkpointsConformance("the pool's checkpoints", async () => {
  const it = await temporaryPool();
  const checkpoints = createPoolCheckpoints(it.pool);
  return {
    checkpoints,
    write: (location, part, text) => writeFile(path.join(location, part), text),
    read: (location, part) => readFile(path.join(location, part), "utf8").catch(() => undefined),
    damageManifest: (id) => writeFile(path.join(checkpoints.locate(id), "manifest.json"), "{"),
    dispose: () => it[Symbol.asyncDispose](),
  };
});

imagesConformance("the pool's images", async () => {
  const it = await temporaryImages();
  return {
    images: it.images,
    add: async (reference) => {
      const root = path.join(it.directory, "root");
      await run("mkdir", ["--parents", path.join(root, "etc")]);
      await run("tar", ["--create", "--file", `${root}.tar`, "--directory", root, "."]);
      return await it.images.import({ path: `${root}.tar`, reference }, () => {});
    },
    dispose: () => it[Symbol.asyncDispose](),
  };
});

async function mounted<T>(file: string, work: (root: string) => Promise<T>): Promise<T> {
  const root = await mkdtemp(path.join(tmpdir(), "torpor-disk-"));
  await run("mount", ["-o", "loop", file, root]);
  try {
    return await work(root);
  } finally {
    await run("umount", [root]);
    await rm(root, { recursive: true });
  }
}
