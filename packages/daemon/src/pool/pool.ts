import { mkdir, readdir, realpath, rm, statfs } from "node:fs/promises";
import path from "node:path";
import { type Info, TorporError } from "@torpor/contract";
import { copyPlain, copyReflink, supportsReflink } from "./copy-file.ts";
import { type LoopPool, openLoopPool } from "./loop-pool.ts";
import { removeTree } from "./remove-tree.ts";
import { keepSpareBlocks } from "./spare-blocks.ts";
import type { Storage } from "./storage.ts";
import { storageFailure } from "./storage-failure.ts";

/**
 * The node's copy-on-write storage:
 *   images/       unpacked, read-only, under their digest
 *   disks/        one sparse file each
 *   checkpoints/  one directory each
 *   tmp/          what is being made; emptied at open, so a crash leaves nothing
 * Everything is made in tmp/ or under a telling name and appears by a rename, which is why all of them share one file system.
 */
export interface Pool {
  readonly path: string;
  readonly reflink: boolean;
  directory(name: PoolDirectory): string;
  /** A copy that shares its blocks with the source where the pool can; appears whole or not at all. */
  copy(source: string, target: string): Promise<void>;
  /** Makes it disappear at once, then frees its space. Unknown: no change. */
  remove(target: string): Promise<void>;
  /** Without the reserve. */
  freeBytes(): Promise<number>;
  /** For those who have to look after the room without the daemon. */
  readonly storage: Storage;
  info(): Promise<Info["pool"]>;
  /** The pool may stay mounted: it is found again at the next open. */
  close(options: { readonly unmount: boolean }): Promise<void>;
}

export const poolDirectories = ["images", "disks", "checkpoints", "tmp"] as const;
export type PoolDirectory = (typeof poolDirectories)[number];

export interface PoolOptions {
  /** torpor-shim. */
  readonly shimPath: string;
  /** Apparent size of the pool file, if one is made. */
  readonly sizeBytes?: number;
  /** So many bytes of the pool file may be free in the pool, default 4 GiB. */
  readonly spareBytes?: number;
  /** Told about anything that makes the pool worse than it could be. */
  readonly warn?: (message: string) => void;
}

export async function openPool(dataDirectory: string, options: PoolOptions): Promise<Pool> {
  if (process.platform !== "linux") {
    throw new TorporError("engine_unavailable", "Torpor's node runs on Linux only.", { hint: "Start the daemon in a Linux machine." });
  }
  try {
    await mkdir(dataDirectory, { recursive: true });
    const data = await realpath(dataDirectory);
    const root = path.join(data, "pool");
    await mkdir(root, { recursive: true, mode: 0o711 });
    const loop = (await supportsReflink(data)) ? undefined : await openLoopPool(data, root, options.sizeBytes);
    return await prepare(data, root, loop, options);
  } catch (cause) {
    throw storageFailure(`The pool in ${dataDirectory} could not be opened`, cause);
  }
}

async function prepare(data: string, root: string, loop: LoopPool | undefined, options: PoolOptions): Promise<Pool> {
  for (const name of poolDirectories) {
    await mkdir(path.join(root, name), { recursive: true, mode: 0o700 });
  }
  const tmp = path.join(root, "tmp");
  await Promise.all((await readdir(tmp)).map((name) => rm(path.join(tmp, name), { recursive: true, force: true })));
  const reflink = await supportsReflink(tmp);
  const warning = reflink
    ? null
    : `Copies of disks are real copies, slow and large: ${loop?.missing ?? "the file system has no reflinks"}.`;
  const { warn = () => {} } = options;
  if (warning !== null) {
    warn(warning);
  }
  const temporary = createNames(tmp);
  const file = loop?.file;
  const spare =
    file === undefined
      ? undefined
      : keepSpareBlocks({ file, mountPoint: root, shimPath: options.shimPath, mostBytes: options.spareBytes, warn });
  const whole = await statfs(root);
  const reserveBytes = reserveOf(whole.blocks * whole.bsize);

  const freeBytes = async () => {
    const inner = await statfs(root);
    // A sparse pool file can promise more than its host has; writing past that would break the file system in it.
    const outer = file !== undefined ? await statfs(data) : inner;
    return Math.max(0, Math.min(inner.bavail * inner.bsize, outer.bavail * outer.bsize - hostReserveBytes) - reserveBytes);
  };

  return {
    path: root,
    reflink,
    directory: (name) => path.join(root, name),
    copy: (source, target) => (reflink ? copyReflink : copyPlain)(source, target, temporary()),
    remove: async (target) => {
      await removeTree(target, temporary());
      spare?.soon();
    },
    freeBytes,
    storage: { pool: root, host: file !== undefined ? data : "", hostReserveBytes, reserveBytes },
    info: async () => {
      const { type, blocks, bsize } = await statfs(root);
      return {
        path: root,
        fileSystem: fileSystemNames[type] ?? `0x${type.toString(16)}`,
        reflink,
        loopBacked: file !== undefined,
        sizeBytes: blocks * bsize,
        freeBytes: await freeBytes(),
        reserveBytes,
        warning,
      };
    },
    close: async ({ unmount }) => {
      await spare?.close();
      if (unmount) {
        await loop?.unmount();
      }
    },
  };
}

/** Left to the host, for its own logs and Torpor's database. */
const hostReserveBytes = 256 * 1024 * 1024;

/**
 * Of the pool, for what running sandboxes wrote and the kernel has not written to it yet, and for what they write until they are held
 * (native/internal/shim/watchroom.go): docs/decisions/0100-a-full-pool.md has the figures.
 */
function reserveOf(poolBytes: number): number {
  return Math.min(Math.max(Math.floor(poolBytes / 16), smallestReserveBytes), largestReserveBytes);
}

const smallestReserveBytes = 64 * 1024 * 1024;
const largestReserveBytes = 2 * 1024 * 1024 * 1024;

/** statfs(2) */
const fileSystemNames: Readonly<Record<number, string>> = {
  1481003842: "xfs",
  2435016766: "btrfs",
  61267: "ext4",
  16914836: "tmpfs",
  2035054128: "overlayfs",
  801189825: "zfs",
};

function createNames(tmp: string): () => string {
  let count = 0;
  return () => {
    count += 1;
    return path.join(tmp, `${process.pid}-${count}`);
  };
}
