import { z } from "zod";

export const Image = z.object({
  /** sha256:… of the image's manifest or, for a root file system, of its content. */
  digest: z.string(),
  references: z.array(z.string()),
  platform: z.string(),
  /** Bytes on the pool. */
  storedBytes: z.number(),
  source: z.enum(["registry", "oci-layout", "docker-archive", "rootfs", "mmdebstrap"]),
  config: z.object({
    env: z.record(z.string(), z.string()),
    user: z.string().nullable(),
    workdir: z.string().nullable(),
    entrypoint: z.array(z.string()),
    cmd: z.array(z.string()),
  }),
  createdAt: z.iso.datetime(),
});
export type Image = z.infer<typeof Image>;
export const ImageList = z.object({ images: z.array(Image) });

export const PullImageRequest = z.strictObject({
  reference: z.string().min(1).max(512),
  /** For a registry that wants them; never stored. */
  credentials: z.strictObject({ username: z.string(), password: z.string() }).optional(),
  /** Plain HTTP or an unverified certificate is allowed. Default: only for loopback registries. */
  insecure: z.boolean().optional(),
});
export type PullImageRequest = z.infer<typeof PullImageRequest>;
export const ImportImageRequest = z.strictObject({
  /** Path on the daemon's host of an OCI layout, a docker archive or a root file system tar. */
  path: z.string().startsWith("/"),
  /** Default: found out by looking. */
  format: z.enum(["oci-layout", "docker-archive", "rootfs"]).optional(),
  reference: z.string().min(1).max(512),
});
export type ImportImageRequest = z.infer<typeof ImportImageRequest>;
export const BuildImageRequest = z.strictObject({
  /** Debian suite. Default: that of the host's apt sources, else stable. */
  suite: z
    .string()
    .regex(/^[a-z-]+$/)
    .optional(),
  packages: z.array(z.string().regex(/^[a-z0-9][a-z0-9+.-]*$/)).optional(),
  reference: z.string().min(1).max(512),
});
export type BuildImageRequest = z.infer<typeof BuildImageRequest>;

/** A line of the NDJSON answer of pull, import and build: progress, then one image or error. */
export const ImageProgress = z.union([
  z.object({
    progress: z.object({ step: z.string(), text: z.string(), doneBytes: z.number().optional(), totalBytes: z.number().optional() }),
  }),
  z.object({ image: Image }),
  z.object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }) }),
]);
export type ImageProgress = z.infer<typeof ImageProgress>;
export const PruneResult = z.object({ removed: z.array(z.string()), freedBytes: z.number() });
