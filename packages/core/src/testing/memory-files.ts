import { type Entry, TorporError } from "@torpor/contract";
import type { GuestFiles } from "../ports/guest.ts";
import type { MemoryFile } from "./memory-disks.ts";
import type { MemoryRuntime } from "./memory-runtime.ts";

/** Files without directories of their own: a directory is there when something lies below it, or it was made. */
export function memoryFiles(runtime: MemoryRuntime, ready: () => Promise<void>): GuestFiles {
  const need = (path: string): MemoryFile => {
    const file = runtime.readFile(path);
    if (file === undefined) throw new TorporError("file_not_found", `there is no file ${path} in the sandbox`);
    return file;
  };
  const isDirectory = (path: string): boolean =>
    path === "/" || runtime.paths().some((name) => name.startsWith(`${path.replace(/\/$/, "")}/`));
  return {
    async stat(path) {
      await ready();
      if (isDirectory(path)) return entryOf(path, { content: "", mode: 0o755 }, "directory");
      return entryOf(path, need(path), "file");
    },
    async list(path) {
      await ready();
      if (!isDirectory(path)) throw new TorporError("file_not_found", `there is no directory ${path} in the sandbox`);
      const below = runtime.paths().filter((name) => name.startsWith(path === "/" ? "/" : `${path}/`) && !name.endsWith("/"));
      return below.map((name) => entryOf(name, need(name), "file"));
    },
    async read(path, { offset = 0, length }) {
      await ready();
      const file = need(path);
      const content = file.content.slice(offset, length === undefined ? undefined : offset + length);
      return { entry: entryOf(path, file, "file"), content: streamOf(fromLatin(content)) };
    },
    async write(path, content, { mode = 0o644 }) {
      await ready();
      const file = { content: toLatin(await gather(content)), mode };
      await ready();
      runtime.writeFile(path, file);
      return entryOf(path, file, "file");
    },
    // biome-ignore lint/correctness/useYield: it has no changes to tell of.
    async *watch(path) {
      await ready();
      throw new TorporError("capability_unsupported", `the in-memory engine can't watch ${path}`);
    },
    async makeDirectory(path, { mode = 0o755 }) {
      await ready();
      const name = `${path.replace(/\/$/, "")}/`;
      runtime.writeFile(name, { content: "", mode });
      return entryOf(path, { content: "", mode }, "directory");
    },
    async move(from, to) {
      await ready();
      const moved = runtime.paths().filter((name) => name === from || name.startsWith(`${from}/`));
      if (moved.length === 0) need(from);
      for (const name of moved) {
        const file = need(name);
        runtime.removeFile(name);
        runtime.writeFile(`${to}${name.slice(from.length)}`, file);
      }
      return isDirectory(to) ? entryOf(to, { content: "", mode: 0o755 }, "directory") : entryOf(to, need(to), "file");
    },
    async remove(path, { recursive }) {
      await ready();
      const below = recursive === true ? runtime.paths().filter((name) => name.startsWith(`${path}/`)) : [];
      if (below.length === 0) need(path);
      for (const name of [...below, path]) runtime.removeFile(name);
    },
    readArchive() {
      throw new TorporError("capability_unsupported", "the in-memory engine has no archives");
    },
    async writeArchive() {
      throw new TorporError("capability_unsupported", "the in-memory engine has no archives");
    },
  };
}

async function gather(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const bytes: number[] = [];
  for await (const chunk of content) for (const byte of chunk) bytes.push(byte);
  return Uint8Array.from(bytes);
}

async function* streamOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

function toLatin(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

function fromLatin(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function entryOf(path: string, { content, mode }: MemoryFile, type: "file" | "directory"): Entry {
  return {
    path,
    name: path.split("/").filter(Boolean).at(-1) ?? "/",
    type,
    size: content.length,
    mode,
    owner: "root",
    group: "root",
    uid: 0,
    gid: 0,
    modifiedAt: "2026-01-01T00:00:00.000Z",
    symlinkTarget: null,
  };
}
