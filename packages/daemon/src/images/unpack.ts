import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { TorporError } from "@torpor/contract";
import type { Progress } from "@torpor/core";
import { CommandError, run } from "../host/spawn.ts";
import { storageFailure } from "../pool/storage-failure.ts";
import { layoutTag } from "./skopeo.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Unpacks a layout's image into `rootfs` of the workspace. umoci resolves every name inside the new root, so a layer can neither
 * write nor delete outside; it also checks each layer against the configuration's digest of its uncompressed content.
 *
 * Without `--keep-dirlinks`: a layer's directory replaces a link of that name, as in Docker and in the image specification, while
 * a layer that has only `lib/x` writes through a lower `lib -> usr/lib`.
 */
export async function unpackLayout(space: Workspace, layout: string, progress: Progress): Promise<string> {
  const rootfs = path.join(space.path, "image", "rootfs");
  await mkdir(path.dirname(rootfs), { mode: 0o700 });
  progress({ step: "unpack", text: "Unpacking the layers" });
  try {
    await run("umoci", ["raw", "unpack", "--image", `${layout}:${layoutTag}`, rootfs], { signal: space.signal });
  } catch (cause) {
    throw cause instanceof CommandError && cause.ending === "exit" ? unpackFailure(cause) : cause;
  }
  await space.requireRoom();
  if (!(await stat(rootfs)).isDirectory()) {
    throw new TorporError("image_invalid", "The image's root is not a directory.");
  }
  return rootfs;
}

function unpackFailure(cause: CommandError): TorporError {
  if (/no space left on device/i.test(cause.stderr)) {
    return storageFailure("The image could not be unpacked", new Error("No space left on device"));
  }
  const words = cause.stderr.trim().split("\n").at(-1) ?? "";
  if (/digest|diffid|checksum/i.test(words)) {
    return new TorporError("image_digest_mismatch", `A layer's content is not what its digest says: ${words}`, { cause });
  }
  return new TorporError("image_invalid", `The image can't be unpacked: ${words}`, { cause });
}
