import type { Share } from "@torpor/core";
import type { CapacityLimits } from "./config.ts";

/** Sandboxes wait most of their time: so many CPUs are promised for each that there is. */
const cpuOvercommit = 16;

/**
 * What all sandboxes together may hold. By default the node's memory, 16 times its CPUs, and any size of disks: they take room of the pool only
 * as they are written, and a full pool is an error of the write that finds it full.
 */
export function capacityOf(host: { readonly memoryBytes: number; readonly cpus: number }, limits: CapacityLimits): Share {
  return {
    memoryBytes: limits.memoryBytes ?? host.memoryBytes,
    cpus: limits.cpus ?? host.cpus * cpuOvercommit,
    diskBytes: limits.diskBytes ?? Number.MAX_SAFE_INTEGER,
  };
}
