import { open, readdir, readFile, rename, rm, stat, statfs } from "node:fs/promises";
import path from "node:path";
import { setTimeout as passes } from "node:timers/promises";
import { TorporError } from "@torpor/contract";
import { sync } from "../host/durable.ts";
import { findMount } from "../host/mount.ts";
import { CommandError, run } from "../host/spawn.ts";
import { hasProgram } from "../host/tools.ts";

export interface LoopPool {
  /** Unknown: there is none. */
  readonly file: string | undefined;
  /** Why there is none. */
  readonly missing: string | undefined;
  unmount(): Promise<void>;
}

const gib = 1024 ** 3;
const patienceMs = 10_000;
const lookMs = 50;

/** XFS in a sparse file beside the mount point, as LXD makes its pools. Found again if an earlier daemon left it mounted. */
export async function openLoopPool(data: string, mountPoint: string, sizeBytes?: number): Promise<LoopPool> {
  const file = path.join(data, "pool.img");
  const there = await findMount(mountPoint);
  if (there !== undefined) {
    await refuseForeignMount(there.source, file, mountPoint);
    return mountedPool(file, mountPoint);
  }
  if (process.getuid?.() !== 0) {
    throw new TorporError("storage_failed", "Only root can make and mount the pool file.", {
      hint: "Start the daemon as root, or put the data directory on a file system with reflinks (XFS, btrfs).",
    });
  }
  if (!(await exists(file))) {
    if (!(await hasProgram("mkfs.xfs"))) {
      return { file: undefined, missing: "mkfs.xfs is not on this host; install the package xfsprogs", unmount: async () => {} };
    }
    await makePoolFile(file, sizeBytes ?? (await defaultSizeBytes(data)));
  }
  await mountPoolFile(file, mountPoint);
  return mountedPool(file, mountPoint);
}

function mountedPool(file: string, mountPoint: string): LoopPool {
  return {
    file,
    missing: undefined,
    unmount: async () => {
      if ((await findMount(mountPoint)) !== undefined) {
        await unmountFree(mountPoint);
        await detached(file);
      }
    },
  };
}

/** A process that has just ended, as one that compared disks, leaves mounts and loop devices in the pool that the kernel takes away a moment later. */
async function unmountFree(mountPoint: string): Promise<void> {
  for (const deadline = performance.now() + patienceMs; ; ) {
    try {
      await run("umount", [mountPoint]);
      return;
    } catch (error) {
      const isBusy = error instanceof CommandError && error.stderr.includes("busy");
      if (!isBusy || performance.now() > deadline) throw error;
      await passes(lookMs);
    }
  }
}

async function refuseForeignMount(source: string, file: string, mountPoint: string): Promise<void> {
  const backing = await readFile(`/sys/block/${path.basename(source)}/loop/backing_file`, "utf8").catch(() => "");
  if (backing.trim() !== file) {
    throw new TorporError("storage_failed", `Something else (${source}) is mounted at ${mountPoint}, without reflinks.`, {
      hint: `Unmount ${mountPoint}, or mount a file system with reflinks there.`,
    });
  }
}

/** Sparse, so it may promise what isn't there yet: at least 20 GiB, the size of two full default disks. */
async function defaultSizeBytes(data: string): Promise<number> {
  const { bavail, bsize } = await statfs(data);
  return Math.min(Math.max(0.8 * bavail * bsize, 20 * gib), 1024 * gib);
}

/** Under its name there is only ever a whole file system: a crash before the rename leaves a partial that the next open makes anew. */
async function makePoolFile(file: string, sizeBytes: number): Promise<void> {
  const partial = `${file}.partial`;
  await rm(partial, { force: true });
  {
    await using handle = await open(partial, "wx", 0o600);
    await handle.truncate(Math.floor(sizeBytes / 4096) * 4096);
  }
  // -K: nothing is to be discarded in a new sparse file.
  await run("mkfs.xfs", ["-q", "-K", "-L", "torpor", "-m", "reflink=1", partial]);
  await sync(partial);
  await rename(partial, file);
  await sync(path.dirname(file));
}

/**
 * A process that just ended can hold the last mount in a mount namespace of its own, and with it the device. Who opens the pool next would
 * find a device that goes away under its hands.
 */
async function detached(file: string): Promise<void> {
  for (let tries = 0; tries < 100 && (await attachedDevice(file)) !== undefined; tries++) {
    await passes(20);
  }
}

async function mountPoolFile(file: string, mountPoint: string): Promise<void> {
  const left = await attachedDevice(file);
  if (left !== undefined) {
    try {
      await mountDevice(left, mountPoint);
      return;
    } catch {
      // Its last user let go of it just now.
      await detached(file);
    }
  }
  await mountDevice(await attach(file), mountPoint);
}

async function mountDevice(device: string, mountPoint: string): Promise<void> {
  try {
    // Not discard: freed blocks are kept for the next checkpoint, and given back by `keepSpareBlocks`.
    await run("mount", ["-t", "xfs", "-o", "noatime", device, mountPoint]);
  } finally {
    // Once mounted this only marks it: the kernel detaches the device by itself at the unmount, whoever does that.
    await run("losetup", ["--detach", device]);
  }
}

/** Direct I/O, else everything lies in the page cache twice: docs/decisions/0010-pool.md has the figures. Not every host file system can. */
async function attach(file: string): Promise<string> {
  const losetup = async (...options: readonly string[]) => (await run("losetup", ["--find", "--show", ...options, file])).stdout.trim();
  // Twice: the first time may only show that the free device has no node.
  for (let tries = 0; tries < 2; tries++) {
    try {
      return await losetup("--direct-io=on");
    } catch {
      const left = await attachedDevice(file);
      if (left !== undefined) return left;
      await makeNodes();
    }
  }
  return losetup();
}

/** In a container whose /dev was made before a loop device nobody else makes its node, and losetup calls the device lost. */
async function makeNodes(): Promise<void> {
  for (const name of (await readdir("/sys/block")).filter((found) => /^loop\d+$/.test(found))) {
    if (await exists(`/dev/${name}`)) continue;
    const [major = "", minor = ""] = (await readFile(`/sys/block/${name}/dev`, "utf8")).trim().split(":");
    await run("mknod", ["--mode=0660", `/dev/${name}`, "b", major, minor]);
  }
}

/** A device that an earlier daemon attached and died before it mounted it. */
async function attachedDevice(file: string): Promise<string | undefined> {
  const { stdout } = await run("losetup", ["--associated", file, "--noheadings", "--output", "NAME"]);
  return stdout.trim().split("\n")[0] || undefined;
}

async function exists(file: string): Promise<boolean> {
  return await stat(file).then(
    () => true,
    () => false,
  );
}
