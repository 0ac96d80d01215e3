import { createHash } from "node:crypto";
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

/** JSON whose first field is the hash of all bytes after its line: of the manifest too every byte counts. */
export function renderManifest(value: CheckpointManifest): string {
  const fields = JSON.stringify(manifest.parse(value), undefined, 1).slice("{\n".length);
  return `{\n "hash": "${hashOf(fields)}",\n${fields}\n`;
}

export function parseManifest(text: string): CheckpointManifest {
  const [, hash, fields = ""] = /^\{\n "hash": "([0-9a-f]{64})",\n(.*)\n$/s.exec(text) ?? [];
  if (hash !== hashOf(fields)) {
    throw new Error("it does not have the hash that it was sealed with");
  }
  return manifest.parse(JSON.parse(text));
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
