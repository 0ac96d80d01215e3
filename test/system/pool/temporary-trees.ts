import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Comparison, FileTree } from "@torpor/core";
import { createPoolDisks } from "../../../packages/daemon/src/disks/pool-disks.ts";
import { createShimComparison } from "../../../packages/daemon/src/disks/shim-comparison.ts";
import { run } from "../../../packages/daemon/src/host/spawn.ts";
import { nativeBinary } from "../../../packages/daemon/src/open-engine.ts";
import { temporaryPool } from "./temporary-pool.ts";

type Work = (root: string) => Promise<unknown>;

export interface TemporaryTrees extends AsyncDisposable {
  readonly dataDirectory: string;
  readonly comparison: Comparison;
  /** A directory to be the image of trees, with what `work` puts there. */
  image(work: Work): Promise<FileTree & { readonly disk: null }>;
  /** A new disk over the image, written as a sandbox does it. */
  tree(image: FileTree, work: Work): Promise<FileTree>;
  /** A copy of the tree's disk, as a fork makes it, written further. */
  fork(tree: FileTree, work: Work): Promise<FileTree>;
  /** Writes while the disk stays mounted, as under a running sandbox, until `then` is through. */
  live<T>(tree: FileTree, work: Work, then: () => Promise<T>): Promise<T>;
}

/** Disks in a pool of their own, and the comparison of the daemon over them. */
export async function temporaryTrees(): Promise<TemporaryTrees> {
  const it = await temporaryPool();
  const disks = createPoolDisks(it.pool);
  const { dataDirectory, pool } = it;
  const shimPath = nativeBinary("torpor-shim");
  const comparison = createShimComparison({ shimPath, dataDirectory, scratch: pool.directory("tmp"), turnLimitMs: 500 });
  let count = 0;
  const fresh = () => `dk_${count++}`;
  const write = async (id: string, { image }: FileTree, work: Work): Promise<FileTree> => {
    const tree = { disk: disks.locate(id), image };
    await mounted(tree, work);
    return tree;
  };
  return {
    dataDirectory,
    comparison,
    image: async (work) => {
      const image = path.join(pool.directory("images"), `image-${count++}`);
      await mkdir(image, { mode: 0o755 });
      await work(image);
      return { disk: null, image };
    },
    tree: async (image, work) => {
      const id = fresh();
      await disks.create(id, 256 * 1024 ** 2);
      return write(id, image, work);
    },
    fork: async (tree, work) => {
      const id = fresh();
      await disks.clone(path.basename(tree.disk ?? "", ".ext4"), id);
      return write(id, tree, work);
    },
    live: (tree, work, then) =>
      mounted(tree, async (root) => {
        await work(root);
        await run("sync", ["--file-system", root]);
        return then();
      }),
    [Symbol.asyncDispose]: async () => {
      await comparison.close();
      await it[Symbol.asyncDispose]();
    },
  };
}

async function mounted<T>({ disk, image }: FileTree, work: (root: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(path.join(tmpdir(), "torpor-tree-"));
  const [below, root] = [path.join(directory, "disk"), path.join(directory, "root")];
  await Promise.all([mkdir(below), mkdir(root)]);
  await run("mount", ["-o", "loop", disk ?? "", below]);
  try {
    await Promise.all(["upper", "work"].map((name) => mkdir(path.join(below, name), { recursive: true })));
    const layers = `lowerdir=${image},upperdir=${path.join(below, "upper")},workdir=${path.join(below, "work")}`;
    await run("mount", ["-t", "overlay", "-o", layers, "overlay", root]);
    try {
      return await work(root);
    } finally {
      await run("umount", [root]);
    }
  } finally {
    await run("umount", [below]);
    await rm(directory, { recursive: true });
  }
}
