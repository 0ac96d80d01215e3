import { randomBytes } from "node:crypto";
import { createWriteStream, type Stats } from "node:fs";
import { chmod, mkdir, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { TorporError } from "@torpor/contract/error";
import type { TorporClient } from "../client.ts";
import { createError } from "../errors.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { extractInto } from "./extract.ts";
import { mergeInto } from "./merge.ts";
import { meansContent, nameOf, type SandboxPlace } from "./place.ts";
import type { CopyOptions } from "./upload.ts";

/** Copies a file or directory out of a sandbox to this host. */
export async function download(client: TorporClient, source: SandboxPlace, target: string, options: CopyOptions = {}): Promise<void> {
  refuseUnknown(options, { user: true, onNotice: true });
  const as = options.user === undefined ? {} : { user: options.user };
  const entry = await client.files.stat(source.sandbox, source.path, as);
  const present = await stat(target).catch(() => undefined);
  if (entry.type === "directory") {
    const archive = await client.files.readArchive(source.sandbox, entry.path, { ...as, follow: true });
    await takeDirectory(archive, nameOf(entry.path), directoryTarget(source.path, entry.path, target, present), options);
  } else if (entry.type === "file") {
    const { content } = await client.files.read(source.sandbox, source.path, as);
    await takeFile(content, entry.mode & 0o777, fileTarget(source.path, target, present));
  } else {
    throw createError("invalid_path", `${source.path} in the sandbox is neither a file nor a directory`);
  }
}

function fileTarget(path: string, target: string, present: Stats | undefined): string {
  if (present?.isDirectory() === true) return join(target, nameOf(path));
  if (target.endsWith("/"))
    throw createError("file_not_found", `there is no directory ${target} here`, {
      hint: "Leave the slash out to copy to a file of that name.",
    });
  return target;
}

function directoryTarget(path: string, real: string, target: string, present: Stats | undefined): string {
  if (present === undefined) return target;
  if (!present.isDirectory())
    throw createError("invalid_path", `${target} is there and is not a directory, so a directory can't be copied to it`);
  return meansContent(path) ? target : join(target, nameOf(real));
}

/** Under its name only when it is whole. */
async function takeFile(content: AsyncIterable<Uint8Array>, mode: number, target: string): Promise<void> {
  const present = await stat(target).catch(() => undefined);
  if (present !== undefined && !present.isFile()) {
    // A device or a pipe is written to, never replaced.
    await pipeline(content, createWriteStream(target));
    return;
  }
  const real = present === undefined ? target : await realpath(target);
  const part = besides(real);
  try {
    await pipeline(content, createWriteStream(part, { flags: "wx", mode }));
    await chmod(part, mode);
    await rename(part, real);
  } catch (error) {
    await rm(part, { force: true });
    throw local(error, target);
  }
}

async function takeDirectory(archive: AsyncIterable<Uint8Array>, name: string, target: string, { onNotice }: CopyOptions): Promise<void> {
  const part = besides(target.replace(/\/+$/, ""));
  try {
    await mkdir(part, { mode: 0o700 });
    const mode = await extractInto(part, archive, name, onNotice);
    if ((await stat(target).catch(() => undefined)) !== undefined) {
      await mergeInto(target, part);
      return;
    }
    await chmod(part, mode);
    await rename(part, target);
  } catch (error) {
    throw local(error, target);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/** A name that nobody has, in the same directory, so that a rename is enough. */
function besides(path: string): string {
  return join(dirname(path), `.${basename(path)}.torpor-${randomBytes(6).toString("hex")}`);
}

function local(error: unknown, target: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof TorporError || code === undefined) return error;
  if (code === "ENOENT") return createError("file_not_found", `there is no directory here for ${target}`);
  return createError(code === "ENOSPC" ? "disk_full" : "internal", `${target} could not be written: ${(error as Error).message}`, {
    cause: error,
  });
}
