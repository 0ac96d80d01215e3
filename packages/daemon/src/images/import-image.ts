import { stat, symlink } from "node:fs/promises";
import path from "node:path";
import { type ImportImageRequest, TorporError } from "@torpor/contract";
import type { Progress } from "@torpor/core";
import { CommandError, run } from "../host/spawn.ts";
import { wrapRootfs } from "./rootfs-layout.ts";
import { copyToLayout } from "./skopeo.ts";
import type { Workspace } from "./workspace.ts";

type Format = NonNullable<ImportImageRequest["format"]>;

/** Makes an OCI layout in the workspace of what lies at a path of this host. */
export async function importToLayout(
  space: Workspace,
  request: ImportImageRequest,
  progress: Progress,
): Promise<{ layout: string; format: Format }> {
  const found = await look(request.path);
  const format = request.format ?? (await detectFormat(request.path, found.isDirectory(), space.signal));
  progress({ step: "read", text: `Reading ${request.path} as ${format}` });
  if (format === "rootfs") {
    requireFile(request.path, found.isFile());
    return { layout: await wrapRootfs(space, request.path), format };
  }
  // skopeo's names end at a colon, which a path may have: it is told of a link in the workspace.
  const link = path.join(space.path, "source");
  await symlink(request.path, link);
  const transport = format === "docker-archive" ? "docker-archive" : found.isDirectory() ? "oci" : "oci-archive";
  const layout = await copyToLayout(space, { image: `${transport}:${link}`, name: request.path }, progress);
  return { layout, format };
}

async function look(file: string) {
  try {
    return await stat(file);
  } catch (cause) {
    throw new TorporError("image_not_found", `There is nothing to import at ${file}.`, {
      hint: "The path is looked for on the daemon's host.",
      cause,
    });
  }
}

function requireFile(file: string, isFile: boolean): void {
  if (!isFile) {
    throw new TorporError("image_invalid", `${file} is not a file.`, { hint: "A root file system is imported from a tar." });
  }
}

/** Told by the names in the archive; the list is left as soon as they have said it. */
export async function detectFormat(file: string, isDirectory: boolean, signal: AbortSignal): Promise<Format> {
  if (isDirectory) {
    return "oci-layout";
  }
  const decided = new AbortController();
  let format: Format | undefined;
  const onLine = (line: string) => {
    format ??= formatOfEntry(line);
    if (format !== undefined) {
      decided.abort();
    }
  };
  try {
    await run("tar", ["--list", "--file", file], { onLine, signal: AbortSignal.any([decided.signal, signal]) });
  } catch (cause) {
    if (signal.aborted || !(cause instanceof CommandError)) {
      throw cause;
    }
    if (format === undefined) {
      throw new TorporError("image_invalid", `${file} is neither an OCI layout nor an archive that tar can read.`, { cause });
    }
  }
  return format ?? "rootfs";
}

/** Docker's newer archives are layouts too; their manifest.json then comes after index.json, and either reading is right. */
function formatOfEntry(line: string): Format | undefined {
  const name = line.replace(/^\.\//, "");
  if (name === "manifest.json" || name === "repositories") {
    return "docker-archive";
  }
  if (name === "oci-layout") {
    return "oci-layout";
  }
  return /^(bin|etc|usr|lib|var|root)(\/|$)/.test(name) ? "rootfs" : undefined;
}
