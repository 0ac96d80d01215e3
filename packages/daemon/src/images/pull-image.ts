import { createHash } from "node:crypto";
import { type PullImageRequest, TorporError } from "@torpor/contract";
import type { Progress } from "@torpor/core";
import type { Pool } from "../pool/pool.ts";
import { requireRoom } from "../pool/room.ts";
import { Index, Manifest, refuseOtherPlatform } from "./layout.ts";
import { formatReference, isLoopback, parseReference, type Reference, resolveRegistry } from "./reference.ts";
import { copyToLayout, inspectRaw, type SkopeoSource } from "./skopeo.ts";
import type { Workspace } from "./workspace.ts";

export interface RemoteImage {
  readonly reference: Reference;
  /** Of its manifest or index at the registry. */
  readonly digest: string;
  readonly source: SkopeoSource;
}

/** What a reference means at its registry now; refused if a pinned digest or the platform does not fit. */
export async function resolveRemote(
  space: Workspace,
  request: PullImageRequest,
  mirror: string | undefined,
  progress: Progress,
): Promise<RemoteImage> {
  const reference = parseReference(request.reference);
  const name = formatReference(reference);
  const registry = resolveRegistry(reference, mirror);
  const address = `docker://${registry}/${reference.repository}`;
  const source = {
    name,
    credentials: request.credentials === undefined ? undefined : { ...request.credentials, registry },
    insecure: request.insecure ?? isLoopback(registry),
  };
  progress({ step: "resolve", text: `Asking ${registry} for ${name}` });
  const wanted = reference.digest === null ? `:${reference.tag}` : `@${reference.digest}`;
  const raw = await inspectRaw(space, { ...source, image: address + wanted });
  const digest = `sha256:${createHash("sha256").update(raw).digest("hex")}`;
  if (reference.digest !== null && reference.digest !== digest) {
    throw new TorporError("image_digest_mismatch", `The registry's answer to ${name} has the digest ${digest}.`);
  }
  refuseUnfit(raw, name);
  // By digest from here on: a tag that moves meanwhile changes nothing.
  return { reference, digest, source: { ...source, image: `${address}@${digest}` } };
}

export async function fetchRemote(space: Workspace, pool: Pool, remote: RemoteImage, progress: Progress): Promise<string> {
  const raw = await inspectRaw(space, remote.source);
  const manifest = Manifest.safeParse(JSON.parse(raw));
  if (manifest.success) {
    const bytes = manifest.data.layers.reduce((sum, layer) => sum + layer.size, 0);
    await requireRoom(pool, `Image ${remote.source.name}`, bytes);
  }
  return await copyToLayout(space, remote.source, progress);
}

function refuseUnfit(raw: string, name: string): void {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (cause) {
    throw new TorporError("image_invalid", `The manifest of ${name} is not JSON.`, { cause });
  }
  const index = Index.safeParse(value);
  if (index.success) {
    refuseOtherPlatform(
      index.data.manifests.flatMap(({ platform }) => (platform === undefined ? [] : [`${platform.os}/${platform.architecture}`])),
    );
  }
}
