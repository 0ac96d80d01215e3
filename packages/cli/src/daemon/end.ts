import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, readlink, rm } from "node:fs/promises";
import { TorporError } from "@torpor/sdk/calls";
import type { Site } from "./site.ts";

/** The pid of the daemon that has this data directory, if one has: read from the lock file, and verified that it holds it. */
export async function findDaemon({ lock }: Site): Promise<number | undefined> {
  const text = await readFile(lock, "utf8").catch(() => "");
  const pid = Number(text.trim());
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
  // A number alone could be a stranger's by now; only the daemon has the lock file open.
  return (await holds(pid, lock)) ? pid : undefined;
}

/** Ends the daemon and waits until it has let go of its data directory. */
export async function endDaemon(site: Site, pid: number): Promise<void> {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
  // The kernel's lock is free when its holder has ended: waiting for it needs no looking again and again.
  const waiting = spawn("flock", ["--exclusive", site.lock, "true"], { stdio: "ignore" });
  const [code] = (await once(waiting, "exit")) as [number | null];
  if (code !== 0) throw new TorporError("internal", `waiting for torpord (pid ${pid}) to end failed: flock ended with ${code}`);
}

/** Removes the data directory of a daemon that has ended, if it is one and nothing is mounted in it. */
export async function removeData({ data }: Site): Promise<void> {
  const names: string[] = await readdir(data).catch(() => []);
  if (names.length === 0) return;
  if (!names.includes("torpord.lock"))
    throw new TorporError("invalid_path", `${data} is no data directory of torpord: nothing was removed`);
  const mounts = (await readFile("/proc/self/mounts", "utf8")).split("\n").map((line) => line.split(" ")[1] ?? "");
  const mounted = mounts.find((path) => path.startsWith(`${data}/`));
  if (mounted !== undefined)
    throw new TorporError("storage_failed", `${mounted} is mounted still: nothing was removed`, {
      hint: "Start torpord again, remove all sandboxes, and stop it.",
    });
  await rm(data, { recursive: true });
}

async function holds(pid: number, path: string): Promise<boolean> {
  const directory = `/proc/${pid}/fd`;
  const names: string[] = await readdir(directory).catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`${directory}/${name}`).catch(() => "")));
  return targets.includes(path);
}
