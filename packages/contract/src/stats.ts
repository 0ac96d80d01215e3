import { z } from "zod";
import { SandboxState } from "./sandbox.ts";

/** What a sandbox uses now. One that does not run uses no memory, CPU or network; it is never woken or asked for this. */
export const SandboxStats = z.object({
  id: z.string(),
  name: z.string(),
  state: SandboxState,
  /** Held on the host, the engine's own part too, so it may be more than a program inside sees. */
  memory: z.object({ usedBytes: z.number(), limitBytes: z.number() }),
  cpu: z.object({
    /** Since the present runtime began. */
    usedMs: z.number(),
    /** Of one CPU, over the time since the look before (0.2 s at least): 150 is one and a half. */
    percent: z.number(),
    /** CPUs, as a quota. */
    limit: z.number(),
  }),
  /** null: it runs and did not say in time. */
  processes: z.number().int().nullable(),
  /** What its disk holds on the pool, blocks that it shares with relatives counted too, and the most that it can. */
  disk: z.object({ usedBytes: z.number(), limitBytes: z.number() }),
  checkpointBytes: z.number(),
  /** Since the present runtime began; null: it has no network, or does not run. */
  network: z.object({ receivedBytes: z.number(), sentBytes: z.number() }).nullable(),
});
export type SandboxStats = z.infer<typeof SandboxStats>;

export const NodeStats = z.object({
  at: z.iso.datetime(),
  /** Oldest first. */
  sandboxes: z.array(SandboxStats),
  pool: z.object({ sizeBytes: z.number(), freeBytes: z.number() }),
});
export type NodeStats = z.infer<typeof NodeStats>;
