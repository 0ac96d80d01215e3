import { readFile, statfs } from "node:fs/promises";
import path from "node:path";
import type { RuntimeStats } from "@torpor/core";

const root = "/sys/fs/cgroup";
/** statfs(2) */
const cgroup2Type = 0x63677270;

/** What the host counts for a runtime, in its control group (path below the root) and on its end of the network. */
export async function readFigures(group: string, veth: string | null): Promise<Omit<RuntimeStats, "processes">> {
  const unified = (await statfs(root)).type === cgroup2Type;
  const [memoryBytes, cpuMs, network] = await Promise.all([
    memoryOf(group, unified),
    cpuOf(group, unified),
    veth === null ? null : networkOf(veth),
  ]);
  return { memoryBytes, cpuMs, network };
}

/** Page cache aside, as in native/internal/host/cgroup.go: that is freed at need. */
async function memoryOf(group: string, unified: boolean): Promise<number> {
  const keys = unified ? ["anon", "shmem", "kernel_stack", "pagetables"] : ["rss", "shmem"];
  const text = await readFile(path.join(root, unified ? "" : "memory", group, "memory.stat"), "utf8");
  return keys.reduce((sum, key) => sum + countOf(text, key), 0);
}

async function cpuOf(group: string, unified: boolean): Promise<number> {
  if (unified) return countOf(await readFile(path.join(root, group, "cpu.stat"), "utf8"), "usage_usec") / 1e3;
  return Number(await readFile(path.join(root, "cpuacct", group, "cpuacct.usage"), "utf8")) / 1e6;
}

/** The host's end sends what the sandbox receives. null: the interface is gone. */
async function networkOf(veth: string): Promise<RuntimeStats["network"]> {
  const count = async (name: string) => Number(await readFile(path.join("/sys/class/net", veth, "statistics", name), "utf8"));
  try {
    const [receivedBytes, sentBytes] = await Promise.all([count("tx_bytes"), count("rx_bytes")]);
    return { receivedBytes, sentBytes };
  } catch {
    return null;
  }
}

function countOf(text: string, key: string): number {
  return Number(new RegExp(`^${key} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
}
