import { z } from "zod";

export const capabilityNames = [
  "create",
  "exec",
  "files",
  "stop",
  "start",
  "pause",
  "resume",
  "fork",
  "memoryLimit",
  "cpuLimit",
  "pidsLimit",
  "diskLimit",
  "network",
] as const;
export const Capability = z.object({ supported: z.boolean(), /** Why not; empty when supported. */ reason: z.string() });
export const Capabilities = z.object({ engine: z.string(), capabilities: z.record(z.enum(capabilityNames), Capability) });
export type Capabilities = z.infer<typeof Capabilities>;

/** A share of the node. Disks count as large as they may become. */
const Share = z.object({ memoryBytes: z.number(), cpus: z.number(), diskBytes: z.number() });

export const Info = z.object({
  version: z.string(),
  instance: z.string(),
  dataDirectory: z.string(),
  engine: z.object({
    name: z.string(),
    version: z.string(),
    path: z.string(),
    /** Where it came from: env, data, package, cache, path. */ source: z.string(),
    sha256: z.string(),
  }),
  capabilities: Capabilities.shape.capabilities,
  pool: z.object({
    path: z.string(),
    fileSystem: z.string(),
    reflink: z.boolean(),
    loopBacked: z.boolean(),
    sizeBytes: z.number(),
    freeBytes: z.number(),
    /** Of what is free: kept for what running sandboxes have not written to the pool yet. `freeBytes` are without it. */
    reserveBytes: z.number().optional(),
    warning: z.string().nullable(),
  }),
  host: z.object({ kernel: z.string(), architecture: z.string(), cpus: z.number(), memoryBytes: z.number(), cgroup: z.enum(["v1", "v2"]) }),
  /** What all sandboxes together hold, and the most that they may. */
  held: Share,
  capacity: Share,
  network: z.object({ subnet: z.string(), resolver: z.string().nullable() }),
  /** URLs at which the API and the page are served on TCP, and the one that the world knows. */
  listening: z.object({ addresses: z.array(z.string()), publicUrl: z.string().nullable() }),
});
export type Info = z.infer<typeof Info>;
