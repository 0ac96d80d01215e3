import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Image, TorporError } from "@torpor/contract";
import { z } from "zod";
import { digestPattern } from "./reference.ts";

/** What is read of the OCI image format; the rest of its fields is of no interest here. */
const platform = z.object({ os: z.string(), architecture: z.string() });
const descriptor = z.object({
  mediaType: z.string().optional(),
  digest: z.string().regex(digestPattern),
  size: z.int().min(0),
  platform: platform.optional(),
});
export const Manifest = z.object({ config: descriptor, layers: z.array(descriptor) });
export const Index = z.object({ manifests: z.array(descriptor) });
const strings = z.array(z.string()).nullish();
const ImageConfig = z.object({
  os: z.string().default("linux"),
  architecture: z.string(),
  config: z
    .object({ Env: strings, User: z.string().nullish(), WorkingDir: z.string().nullish(), Entrypoint: strings, Cmd: strings })
    .nullish(),
});

export interface LayoutImage {
  readonly digest: string;
  readonly platform: string;
  readonly config: Image["config"];
}

export const nodePlatform = `linux/${process.arch === "x64" ? "amd64" : process.arch}`;

/** The one image of an OCI layout that skopeo or Torpor wrote, refused if it is for another platform. */
export async function readLayout(directory: string): Promise<LayoutImage> {
  try {
    const index = Index.parse(JSON.parse(await readFile(path.join(directory, "index.json"), "utf8")));
    const [entry] = index.manifests;
    if (entry === undefined) {
      throw new Error("it has no image");
    }
    const manifest = Manifest.parse(JSON.parse(await readBlob(directory, entry.digest)));
    const image = ImageConfig.parse(JSON.parse(await readBlob(directory, manifest.config.digest)));
    const imagePlatform = `${image.os}/${image.architecture}`;
    refuseOtherPlatform([imagePlatform]);
    return { digest: entry.digest, platform: imagePlatform, config: toConfig(image) };
  } catch (cause) {
    if (cause instanceof TorporError) {
      throw cause;
    }
    throw new TorporError("image_invalid", `The image's manifest or configuration can't be read: ${message(cause)}`, { cause });
  }
}

export function refuseOtherPlatform(platforms: readonly string[]): void {
  if (!platforms.includes(nodePlatform)) {
    throw new TorporError("image_invalid", `The image is for ${platforms.join(", ") || "no platform"}; this node is ${nodePlatform}.`, {
      hint: `Choose an image that was built for ${nodePlatform}.`,
      details: { platforms, nodePlatform },
    });
  }
}

async function readBlob(directory: string, digest: string): Promise<string> {
  const content = await readFile(path.join(directory, "blobs", "sha256", digest.slice("sha256:".length)));
  const found = `sha256:${createHash("sha256").update(content).digest("hex")}`;
  if (found !== digest) {
    throw new TorporError("image_digest_mismatch", `The blob ${digest} has the digest ${found}.`);
  }
  return content.toString("utf8");
}

/** As Docker's: what a process gets if neither the image nor the caller says anything. */
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

function toConfig({ config }: z.infer<typeof ImageConfig>): Image["config"] {
  const pairs = (config?.Env ?? []).flatMap((pair): [string, string][] => {
    const at = pair.indexOf("=");
    return at > 0 ? [[pair.slice(0, at), pair.slice(at + 1)]] : [];
  });
  return {
    env: { PATH: defaultPath, ...Object.fromEntries(pairs) },
    user: config?.User || null,
    workdir: config?.WorkingDir || null,
    entrypoint: config?.Entrypoint ?? [],
    cmd: config?.Cmd ?? [],
  };
}

function message(cause: unknown): string {
  return cause instanceof z.ZodError ? z.prettifyError(cause) : cause instanceof Error ? cause.message : String(cause);
}
