import type { CheckpointManifest } from "@torpor/core";
import { z } from "zod";

/** A part's name becomes a file name beside manifest.json. */
const partName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
  .refine((name) => !name.startsWith("manifest.json"));

const manifest = z.object({
  version: z.literal(1),
  id: z.string(),
  sandboxId: z.string(),
  diskId: z.string(),
  generation: z.int(),
  createdAt: z.string(),
  engine: z.object({ name: z.string(), version: z.string(), sha256: z.string() }),
  guest: z.object({ sha256: z.string() }),
  image: z.object({ digest: z.string() }),
  cpu: z.object({ architecture: z.string(), features: z.array(z.string()) }),
  restore: z.record(z.string(), z.unknown()),
  parts: z.array(z.object({ name: partName, sizeBytes: z.int().min(0), hash: z.string() })).min(1),
});

export function parseManifest(value: unknown): CheckpointManifest {
  return manifest.parse(value);
}
