import type { SandboxUsage } from "@torpor/contract";
import type { Share } from "./share.ts";

/** The meter of one sandbox as it stood at `until`; what it held from then on is known with it. */
export interface UsageRecord extends SandboxUsage {
  readonly holding: Pick<Share, "cpus" | "memoryBytes">;
}

export interface UsageStore {
  /** In the order of their ids. */
  listUsage(): Promise<UsageRecord[]>;
}
