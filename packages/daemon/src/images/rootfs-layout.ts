import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { type Image, TorporError } from "@torpor/contract";
import { run } from "../host/spawn.ts";
import { nodePlatform } from "./layout.ts";
import { layoutTag } from "./skopeo.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Wraps the tar of a root file system as an OCI image with one layer, so that one way of unpacking serves all sources. Nothing in
 * it depends on when or where it is made: the same tar is the same image.
 */
export async function wrapRootfs(space: Workspace, tar: string, config: Partial<Image["config"]> = {}): Promise<string> {
  const layout = path.join(space.path, "layout");
  const blobs = path.join(layout, "blobs", "sha256");
  await mkdir(blobs, { recursive: true });
  const layer = await addLayer(space, blobs, tar);
  const [os = "", architecture = ""] = nodePlatform.split("/");
  const imageConfig = await addBlob(blobs, {
    os,
    architecture,
    rootfs: { type: "layers", diff_ids: [layer.digest] },
    config: {
      Env: Object.entries(config.env ?? {}).map(([name, value]) => `${name}=${value}`),
      Cmd: config.cmd ?? [],
    },
  });
  const manifest = await addBlob(blobs, {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: { mediaType: "application/vnd.oci.image.config.v1+json", ...imageConfig },
    layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", ...layer }],
  });
  await writeFile(path.join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  const annotations = { "org.opencontainers.image.ref.name": layoutTag };
  const entry = { mediaType: "application/vnd.oci.image.manifest.v1+json", ...manifest, annotations };
  await writeFile(path.join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [entry] }));
  return layout;
}

interface Blob {
  readonly digest: string;
  readonly size: number;
}

async function addBlob(blobs: string, value: unknown): Promise<Blob> {
  const text = JSON.stringify(value);
  const hex = createHash("sha256").update(text).digest("hex");
  await writeFile(path.join(blobs, hex), text);
  return { digest: `sha256:${hex}`, size: Buffer.byteLength(text) };
}

async function addLayer(space: Workspace, blobs: string, tar: string): Promise<Blob> {
  const plain = await decompressed(space, tar);
  const hash = createHash("sha256");
  let size = 0;
  const count = new Transform({
    transform: (chunk: Buffer, _, done) => {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  const temporary = path.join(space.path, "layer.tar");
  try {
    await pipeline([createReadStream(plain.file), ...plain.through, count, createWriteStream(temporary)], { signal: space.signal });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code?.startsWith("Z_") || (cause as NodeJS.ErrnoException).code?.startsWith("ZSTD_")) {
      throw new TorporError("image_invalid", `The root file system ${path.basename(tar)} is damaged: ${(cause as Error).message}`, {
        cause,
      });
    }
    throw cause;
  }
  const hex = hash.digest("hex");
  await rename(temporary, path.join(blobs, hex));
  return { digest: `sha256:${hex}`, size };
}

async function decompressed(space: Workspace, tar: string): Promise<{ file: string; through: NodeJS.ReadWriteStream[] }> {
  const magic = await firstBytes(tar);
  if (magic.startsWith("1f8b")) {
    return { file: tar, through: [createGunzip()] };
  }
  if (magic.startsWith("28b52ffd")) {
    return { file: tar, through: [createZstdDecompress()] };
  }
  if (magic.startsWith("fd377a585a00")) {
    const copy = path.join(space.path, "rootfs.tar.xz");
    await run("cp", ["--", tar, copy], { signal: space.signal });
    await run("xz", ["--decompress", "--", copy], { signal: space.signal });
    return { file: path.join(space.path, "rootfs.tar"), through: [] };
  }
  return { file: tar, through: [] };
}

async function firstBytes(file: string): Promise<string> {
  await using handle = await open(file, "r");
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(6), 0, 6, 0);
  return buffer.subarray(0, bytesRead).toString("hex");
}
