import { lstat, readdir, rename, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { createError } from "../errors.ts";

/** Moves what is in one directory into another of the same file system. Looks first, so that a clash changes nothing. */
export async function mergeInto(target: string, source: string): Promise<void> {
  await checkClashes(target, source);
  await moveAll(target, source);
}

async function checkClashes(target: string, source: string): Promise<void> {
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const present = await lstat(join(target, entry.name)).catch(() => undefined);
    if (present === undefined) continue;
    // A link to a directory is not gone through: it counts as a file.
    if (present.isDirectory() !== entry.isDirectory()) {
      const path = join(target, entry.name);
      throw createError(
        "invalid_path",
        `${path} is there and is ${present.isDirectory() ? "a directory, a file" : "no directory, a directory"} can't take its place`,
        { hint: "Nothing was copied." },
      );
    }
    if (entry.isDirectory()) await checkClashes(join(target, entry.name), join(source, entry.name));
  }
}

async function moveAll(target: string, source: string): Promise<void> {
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const from = join(source, entry.name);
    const to = join(target, entry.name);
    if (entry.isDirectory() && (await lstat(to).catch(() => undefined)) !== undefined) {
      await moveAll(to, from);
      await rmdir(from);
    } else await rename(from, to);
  }
}
