import { createHash } from "node:crypto";
import { constants, copyFileSync, createReadStream, mkdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";

/** Writes an OCI layout whose one layer is a root file system's tar, not compressed: it never leaves this host. */
export async function layoutFromTar(directory: string, tar: string, config: Readonly<Record<string, unknown>>): Promise<void> {
  const blobs = path.join(directory, "blobs", "sha256");
  mkdirSync(blobs, { recursive: true });
  const hash = createHash("sha256");
  await pipeline(createReadStream(tar), hash);
  const layer = hash.digest("hex");
  copyFileSync(tar, path.join(blobs, layer), constants.COPYFILE_FICLONE);
  const add = (mediaType: string, value: unknown) => {
    const content = Buffer.from(JSON.stringify(value));
    const digest = createHash("sha256").update(content).digest("hex");
    writeFileSync(path.join(blobs, digest), content);
    return { mediaType: `application/vnd.oci.image.${mediaType}`, digest: `sha256:${digest}`, size: content.length };
  };
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const configuration = add("config.v1+json", {
    os: "linux",
    architecture,
    config,
    rootfs: { type: "layers", diff_ids: [`sha256:${layer}`] },
  });
  const layers = [{ mediaType: "application/vnd.oci.image.layer.v1.tar", digest: `sha256:${layer}`, size: statSync(tar).size }];
  const manifest = add("manifest.v1+json", {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: configuration,
    layers,
  });
  writeFileSync(path.join(directory, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  writeFileSync(path.join(directory, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [manifest] }));
}
