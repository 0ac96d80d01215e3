import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { type TarEntry, tar } from "./tar.ts";

export interface LayoutOptions {
  readonly architecture?: string;
  /** Of the image's configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Wraps the manifest in an index that names the platform. */
  readonly asIndex?: boolean;
  readonly tag?: string;
  /** What the configuration says of its layers, if not the truth. */
  readonly diffIds?: readonly string[];
}

export const nodeArchitecture = process.arch === "x64" ? "amd64" : process.arch;

/** Writes an OCI layout with these layers and answers the digest of its manifest. */
export async function writeLayout(
  directory: string,
  layers: readonly (readonly TarEntry[])[],
  options: LayoutOptions = {},
): Promise<string> {
  const blobs = path.join(directory, "blobs", "sha256");
  await mkdir(blobs, { recursive: true });
  const add = async (content: Buffer) => {
    const digest = sha256(content);
    await writeFile(path.join(blobs, digest.slice("sha256:".length)), content);
    return { digest, size: content.length };
  };
  const addJson = (value: unknown) => add(Buffer.from(JSON.stringify(value)));
  const architecture = options.architecture ?? nodeArchitecture;

  const tars = layers.map((entries) => tar(entries));
  const config = await addJson({
    os: "linux",
    architecture,
    config: options.config ?? {},
    rootfs: { type: "layers", diff_ids: options.diffIds ?? tars.map(sha256) },
  });
  const manifest = await addJson({
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: "application/vnd.oci.image.config.v1+json", ...config },
    layers: await Promise.all(
      tars.map(async (content) => ({ mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", ...(await add(gzipSync(content))) })),
    ),
  });
  const entry = { mediaType: manifestType, ...manifest, platform: { os: "linux", architecture } };
  const top =
    options.asIndex === true
      ? { mediaType: indexType, ...(await addJson({ schemaVersion: 2, mediaType: indexType, manifests: [entry] })) }
      : entry;
  await writeFile(path.join(directory, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  const annotations = { "org.opencontainers.image.ref.name": options.tag ?? "latest" };
  await writeFile(path.join(directory, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [{ ...top, annotations }] }));
  return top.digest;
}

const manifestType = "application/vnd.oci.image.manifest.v1+json";
const indexType = "application/vnd.oci.image.index.v1+json";

function sha256(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
