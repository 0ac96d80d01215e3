import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import type { TorporClient } from "@torpor/sdk";
import { eventually } from "./inside.ts";

/** The host's side of a sandbox's present runtime, for tests that break it. */
export interface HostRuntime {
  readonly directory: string;
  /** First process of the engine: gVisor's sentry, runc's PID 1. */
  readonly enginePid: number;
  readonly shimPid: number;
}

export async function hostRuntime(client: TorporClient, instance: string, sandbox: string): Promise<HostRuntime> {
  const { runtimeId } = await client.get(sandbox);
  const directory = path.join("/run/torpor", instance, String(runtimeId));
  const read = (file: string) => JSON.parse(readFileSync(path.join(directory, file), "utf8")) as { pid?: number; Pid?: number };
  return { directory, enginePid: read("state.json").pid ?? 0, shimPid: read("shim.pid").pid ?? 0 };
}

/** First processes of all engines of an instance that are alive. */
export function enginePids(instance: string): number[] {
  return globSync(`/run/torpor/${instance}/rt_*/engine.pid`).flatMap(pidsIn).filter(isAlive);
}

/** All processes in the control groups of an instance's runtimes, on either version of them. */
export function runtimePids(instance: string): number[] {
  return globSync(`/sys/fs/cgroup/{torpor-${instance},memory/torpor-${instance}}/rt_*/**/cgroup.procs`).flatMap(pidsIn);
}

/** A runtime may go while it is looked at. */
function pidsIn(file: string): number[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false; // also when it ends while it is read: ENOENT, ESRCH
  }
}

/** false: it has ended by itself. */
export function signalIfThere(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

/** Kills it and waits until it is dead. */
export async function killHard(pid: number): Promise<void> {
  if (pid <= 1) {
    throw new Error(`${pid} is not a process that a test may kill`);
  }
  signalIfThere(pid, "SIGKILL");
  await eventually(
    async () => isAlive(pid),
    (alive) => !alive,
  );
}
