import { spawn } from "node:child_process";
import { on } from "node:events";
import { createReadStream, type Stats, watch as watchDirectory } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, readlink, rename, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Entry, type ErrorCode, TorporError } from "@torpor/contract";
import type { GuestFiles } from "@torpor/core";

/** Files below a directory of this host, by paths as a sandbox would have them. */
export function directoryFiles(root: string): GuestFiles {
  const at = (path: string) => join(root, path);
  const entryOf = (path: string, follow: boolean) => telling(path, async () => describe(path, at(path), follow));
  return {
    stat: (path, { follow }) => entryOf(path, follow ?? true),
    list: (path) =>
      telling(path, async () => {
        const names = await readdir(at(path));
        return Promise.all(names.sort().map((name) => describe(join(path, name), at(join(path, name)), false)));
      }),
    read: (path) =>
      telling(path, async () => {
        const entry = await entryOf(path, true);
        if (entry.type !== "file") throw new TorporError("invalid_path", `${path} is a ${entry.type}`);
        return { entry, content: createReadStream(at(path)) };
      }),
    write: (path, content, { mode, parents }) =>
      telling(path, async () => {
        if (parents === true) await mkdir(dirname(at(path)), { recursive: true });
        const temporary = `${at(path)}.part`;
        const file = await open(temporary, "w");
        try {
          for await (const chunk of content) await file.writeFile(chunk);
          await file.close();
          await chmod(temporary, mode ?? 0o644);
          await rename(temporary, at(path));
        } catch (error) {
          await file.close().catch(() => {});
          await rm(temporary, { force: true });
          throw error;
        }
        return entryOf(path, true);
      }),
    async *watch(path, { recursive = false, signal }) {
      await entryOf(path, true);
      // Not the one of promises: that begins to watch when it is first asked for what happened.
      const watcher = watchDirectory(at(path), { recursive });
      const events = on(watcher, "change", signal === undefined ? {} : { signal });
      try {
        yield [];
        for await (const [eventType, filename] of events as AsyncIterable<[string, string | null]>) {
          const name = join(path, filename ?? "");
          const facts = await lstat(at(name)).catch(() => undefined);
          const change = eventType === "change" ? "modified" : facts === undefined ? "removed" : "created";
          yield [{ change, path: name, from: null, directory: facts?.isDirectory() ?? false }];
        }
      } catch (error) {
        if (signal?.aborted !== true) throw error;
      } finally {
        watcher.close();
      }
    },
    makeDirectory: (path, { parents }) =>
      telling(path, async () => {
        await mkdir(at(path), { recursive: parents ?? false });
        return entryOf(path, true);
      }),
    move: (from, to) =>
      telling(from, async () => {
        await rename(at(from), at(to));
        return entryOf(to, false);
      }),
    remove: (path, { recursive }) =>
      telling(path, async () => {
        const entry = await describe(path, at(path), false);
        if (entry.type === "directory" && recursive !== true) await rmdir(at(path));
        else await rm(at(path), { recursive: true });
      }),
    async *readArchive(path) {
      await entryOf(path, false);
      const tar = spawn("tar", ["-C", dirname(at(path)), "--format=pax", "-cf", "-", basename(at(path))], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      yield* tar.stdout;
    },
    async writeArchive(path, content) {
      await mkdir(at(path), { recursive: true });
      const tar = spawn("tar", ["-C", at(path), "-xf", "-"], { stdio: ["pipe", "ignore", "ignore"] });
      const ended = new Promise<number | null>((resolve) => tar.once("close", resolve));
      await pipeline(Readable.from(content, { objectMode: false }), tar.stdin).catch((error: NodeJS.ErrnoException) => {
        // It did not want the rest: its code says why.
        if (error.code !== "EPIPE") throw error;
      });
      if ((await ended) !== 0) throw new TorporError("invalid_archive", "the archive is damaged");
      return { files: 0, bytes: 0 };
    },
  };
}

async function describe(path: string, real: string, follow: boolean): Promise<Entry> {
  const facts = await (follow ? stat(real) : lstat(real));
  return {
    path,
    name: basename(path),
    type: typeOf(facts),
    size: facts.size,
    mode: facts.mode & 0o7777,
    owner: "root",
    group: "root",
    uid: facts.uid,
    gid: facts.gid,
    modifiedAt: facts.mtime.toISOString(),
    symlinkTarget: facts.isSymbolicLink() ? await readlink(real) : null,
  };
}

function typeOf(facts: Stats): Entry["type"] {
  if (facts.isFile()) return "file";
  if (facts.isDirectory()) return "directory";
  return facts.isSymbolicLink() ? "symlink" : "other";
}

const codes: Record<string, ErrorCode> = {
  ENOENT: "file_not_found",
  ENOTDIR: "invalid_path",
  EISDIR: "invalid_path",
  EEXIST: "file_exists",
  ENOTEMPTY: "directory_not_empty",
  EACCES: "permission_denied",
  ENOSPC: "disk_full",
};

async function telling<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = codes[(error as NodeJS.ErrnoException).code ?? ""];
    if (code === undefined) throw error;
    throw new TorporError(code, `${path}: ${code.replaceAll("_", " ")}`);
  }
}
