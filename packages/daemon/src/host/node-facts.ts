import { statfs } from "node:fs/promises";
import { arch, cpus, release, totalmem } from "node:os";
import type { Info } from "@torpor/contract";

/** CGROUP2_SUPER_MAGIC, statfs(2) */
const cgroup2Magic = 0x63677270;

/** What the host gives, for `torpor info` and for refusals with figures. */
export async function readNodeFacts(): Promise<Info["host"]> {
  const { type } = await statfs("/sys/fs/cgroup");
  return {
    kernel: release(),
    architecture: arch(),
    cpus: cpus().length,
    memoryBytes: totalmem(),
    cgroup: type === cgroup2Magic ? "v2" : "v1",
  };
}
