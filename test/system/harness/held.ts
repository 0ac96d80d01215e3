import { execFile, execFileSync } from "node:child_process";
import { globSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { nativeBinary } from "../../../packages/daemon/src/open-engine.ts";
import { mib } from "./content.ts";
import { readHostState } from "./host-state.ts";
import { output } from "./inside.ts";
import { residentBytes } from "./resident-bytes.ts";
import { hostRuntime } from "./runtime.ts";
import type { TestDaemon } from "./test-daemon.ts";

/**
 * What a running sandbox and its daemon hold, and by how much each may grow without being a leak: threads and descriptors come and go, a heap fills
 * before it is cleared, the store has a log of writes of 4 MB and the history of a thousand operations.
 */
const leeway = {
  processes: 0,
  /** On the host, and in the mount namespace of the runtime's shim. */
  mounts: 0,
  loops: 0,
  netns: 0,
  interfaces: 0,
  cgroups: 0,
  /** Of the runtime, and of disks, checkpoints and what is being made in the pool. */
  files: 0,
  daemonFds: 5,
  shimFds: 2,
  engineFds: 8,
  guestFds: 2,
  guestThreads: 8,
  processesInside: 2,
  daemonBytes: 48 * mib,
  checkpointBytes: 32 * mib,
  storeBytes: 10 * mib,
  /** What the host's disk gives for the data directory: the store, the log and the whole pool. */
  dataBytes: 64 * mib,
} as const;

export type Held = Readonly<Record<keyof typeof leeway, number>>;

export async function readHeld(daemon: TestDaemon, sandbox: string): Promise<Held> {
  const { client, data, instance } = daemon;
  const { directory, shimPid, enginePid } = await hostRuntime(client, instance, sandbox);
  const state = readHostState([data, instance]);
  const counts = await output(client, sandbox, "ls /proc/1/fd | wc -l; ls /proc/1/task | wc -l; ls -d /proc/[0-9]* | wc -l");
  const [guestFds = 0, guestThreads = 0, processesInside = 0] = counts.split("\n").map(Number);
  const pause = (await client.operations(sandbox)).find(({ kind }) => kind === "pause");
  return {
    processes: state.processes.length,
    mounts: state.mounts.length + readFileSync(`/proc/${shimPid}/mountinfo`, "utf8").split("\n").length - 1,
    loops: state.loops.length,
    netns: new Set(state.processes.map((line) => namespaceOf(Number.parseInt(line, 10)))).size,
    interfaces: state.interfaces.length,
    cgroups: globSync(`/sys/fs/cgroup/{torpor-${instance},*/torpor-${instance}}/**/`).length,
    files: globSync([`${directory}/**`, `${data}/pool/{disks,checkpoints,tmp}/**`]).length,
    daemonFds: descriptors(daemon.pid),
    shimFds: descriptors(shimPid),
    engineFds: descriptors(enginePid),
    guestFds,
    guestThreads,
    processesInside,
    daemonBytes: residentBytes(daemon.pid),
    checkpointBytes: Number(pause?.result.checkpointBytes),
    storeBytes: globSync(path.join(data, "torpor.db*")).reduce((sum, file) => sum + statSync(file).size, 0),
    dataBytes: await dataBytes(data),
  };
}

/** One line for each that grew too much. */
export function leaks(before: Held, after: Held): string[] {
  return (Object.keys(leeway) as (keyof Held)[])
    .filter((what) => !(after[what] <= before[what] + leeway[what]))
    .map((what) => `${what}: ${before[what]} before, ${after[what]} after`);
}

function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** A process may end while it is looked at. */
function namespaceOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return "ended";
  }
}

/** Blocks, not sizes: the pool's file is sparse. The daemon keeps some that are free in it for what comes next: all are given back first. */
async function dataBytes(data: string): Promise<number> {
  // Its input stays open until it ends.
  await promisify(execFile)(nativeBinary("torpor-shim"), ["trim", path.join(data, "pool"), path.join(data, "pool.img"), "0"]);
  return Number.parseInt(execFileSync("du", ["--summarize", "--one-file-system", "--block-size=1", data], { encoding: "utf8" }), 10);
}
