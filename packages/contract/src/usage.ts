import { z } from "zod";

/** What a sandbox has used since `since`. A removed one is told of for 90 days. */
export const SandboxUsage = z.object({
  sandboxId: z.string(),
  name: z.string(),
  team: z.string(),
  since: z.iso.datetime(),
  /** Counted up to here. */
  until: z.iso.datetime(),
  removedAt: z.iso.datetime().nullable(),
  /** Time that it held CPUs and memory of the node. */
  runningSeconds: z.number(),
  /** CPUs that it might use, times that time. */
  cpuSeconds: z.number(),
  memoryGibSeconds: z.number(),
  /** What its disk and checkpoint took of the pool, looked at each minute; what it shares with others counts whole. */
  storedGibSeconds: z.number(),
});
export type SandboxUsage = z.infer<typeof SandboxUsage>;

export const UsageList = z.object({ usage: z.array(SandboxUsage) });
