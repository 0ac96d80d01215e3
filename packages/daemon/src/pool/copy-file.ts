import { constants, copyFile, link, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { run } from "../host/spawn.ts";

/** Blocks are shared: 3 ms whatever the size. */
export async function copyReflink(source: string, target: string, temporary: string): Promise<void> {
  await copyThenRename(temporary, target, () => copyFile(source, temporary, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL));
}

/** Node's copyFile would fill the holes of a 10 GiB disk; cp keeps them. */
export async function copyPlain(source: string, target: string, temporary: string): Promise<void> {
  await copyThenRename(temporary, target, async () => {
    await run("cp", ["--reflink=never", "--sparse=always", "--", source, temporary]);
  });
}

export async function supportsReflink(directory: string): Promise<boolean> {
  const probe = path.join(directory, `.reflink-probe-${process.pid}`);
  try {
    // An empty file would not do: there is nothing in it to share, and some file systems then say yes.
    await writeFile(probe, "x".repeat(4096));
    await copyFile(probe, `${probe}-copy`, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch (cause) {
    if (["ENOTSUP", "EOPNOTSUPP", "ENOSYS", "ENOTTY", "EINVAL", "EXDEV"].includes((cause as NodeJS.ErrnoException).code ?? "")) {
      return false;
    }
    throw cause;
  } finally {
    await rm(probe, { force: true });
    await rm(`${probe}-copy`, { force: true });
  }
}

async function copyThenRename(temporary: string, target: string, copy: () => Promise<void>): Promise<void> {
  try {
    await copy();
    // link, unlike rename, never replaces: of two that copy to one target the first wins, and both find a whole file there.
    await link(temporary, target);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") {
      throw cause;
    }
  } finally {
    await rm(temporary, { force: true });
  }
}
