import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Entry } from "@torpor/contract";
import { TorporError } from "@torpor/contract/error";
import { type Headers, pack } from "tar-fs";
import type { TorporClient } from "../client.ts";
import { createError } from "../errors.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { meansContent, type SandboxPlace } from "./place.ts";

export interface CopyOptions {
  /** User of the sandbox to act as. Default root. */
  readonly user?: string;
  /** Told of what was left out. */
  readonly onNotice?: (text: string) => void;
}

/** Copies a file or directory of this host into a sandbox. */
export async function upload(client: TorporClient, source: string, target: SandboxPlace, options: CopyOptions = {}): Promise<void> {
  refuseUnknown(options, { user: true, onNotice: true });
  const { user } = options;
  const as = user === undefined ? {} : { user };
  const facts = await localFacts(source);
  const present = await entryAt(client, target, as);
  if (facts.isDirectory()) {
    await client.files.writeArchive(target.sandbox, directoryTarget(source, target.path, present), packed(source), as);
  } else if (facts.isFile()) {
    await client.files.write(target.sandbox, fileTarget(source, target.path, present), createReadStream(source), {
      ...as,
      mode: facts.mode & 0o777,
    });
  } else {
    throw createError("invalid_path", `${source} is neither a file nor a directory`);
  }
}

async function localFacts(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    throw createError(
      "file_not_found",
      `${path}: ${(error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file here" : (error as Error).message}`,
    );
  }
}

async function entryAt(client: TorporClient, { sandbox, path }: SandboxPlace, as: { user?: string }): Promise<Entry | undefined> {
  try {
    return await client.files.stat(sandbox, path, as);
  } catch (error) {
    if (error instanceof TorporError && error.code === "file_not_found") return undefined;
    throw error;
  }
}

function fileTarget(source: string, path: string, present: Entry | undefined): string {
  if (present?.type === "directory") return join(path, basename(resolve(source)));
  if (path.endsWith("/") && present === undefined)
    throw createError("file_not_found", `there is no directory ${path} in the sandbox`, {
      hint: "Leave the slash out to copy to a file of that name.",
    });
  return path;
}

function directoryTarget(source: string, path: string, present: Entry | undefined): string {
  if (present === undefined) return path;
  if (present.type !== "directory")
    throw createError("invalid_path", `${path} is there and is not a directory, so a directory can't be copied to it`);
  return meansContent(source) ? path : join(path, basename(resolve(source)));
}

/** What is in a directory, as root's: users of this host mean nothing in there. */
function packed(directory: string): AsyncIterable<Uint8Array> {
  // umask 0: modes go as they are; the types of tar-fs leave it out.
  const options = { strict: false, umask: 0, map: (header: Headers) => ({ ...header, uid: 0, gid: 0 }) };
  return pack(directory, options) as AsyncIterable<Uint8Array>;
}

function join(directory: string, name: string): string {
  return `${directory.replace(/\/+$/, "")}/${name}`;
}
