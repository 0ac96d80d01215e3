import { posix } from "node:path";
import type { Writable } from "node:stream";
import { extract, type Headers } from "tar-fs";
import { createError } from "../errors.ts";

/** The types of tar-fs leave out where a link leads. */
type Header = Headers & { linkname?: string | null };

/**
 * Unpacks a sandbox's archive into an empty directory, without the name that all its entries start with; gives the mode
 * of the directory that was packed.
 *
 * The archive is hostile. tar-fs keeps names below the directory, refuses to write where a parent is a link, makes no hard
 * link to the outside, and drops set-user-id bits. It would refuse links that point outside, which every root file system
 * has, so that check is off; and it would change mode and time of a directory *through* a link, so `Guard` refuses
 * that, and any entry below a link.
 */
export async function extractInto(
  directory: string,
  archive: AsyncIterable<Uint8Array>,
  name: string,
  onNotice: (text: string) => void = () => {},
): Promise<number> {
  const guard = new Guard();
  let mode = 0o755;
  let special = 0;
  let refused: string | undefined;
  const unpacking = extract(directory, {
    chown: false,
    strict: false,
    validateSymlinks: false,
    map: (header: Header) => {
      const inner: Header = { ...header, name: without(header.name, name) };
      if (header.type === "link" && header.linkname) inner.linkname = without(header.linkname, name);
      if (inner.name === "." && header.type === "directory") mode = (header.mode ?? mode) & 0o777;
      return inner;
    },
    ignore: (_path: string, header?: Header) => {
      if (header === undefined) return false;
      if (!isPlain(header)) special++;
      const refusal = guard.refusal(header);
      refused ??= refusal;
      return refused !== undefined || !isPlain(header);
    },
  } as Parameters<typeof extract>[1]);
  // An entry that breaks off may do so before tar-fs listens to it; the archive's own error tells of it.
  unpacking.on("entry", (_header, stream) => stream.on("error", () => {}));
  await feed(archive, unpacking as unknown as Writable, () => refused !== undefined);
  if (refused !== undefined) throw createError("invalid_archive", refused, { hint: "Nothing was copied." });
  if (special > 0) onNotice(`${special} devices, pipes or the like were left out`);
  return mode;
}

/** tar-fs has streams of its own kind, whose errors node's pipeline lets through unhandled. */
async function feed(archive: AsyncIterable<Uint8Array>, unpacking: Writable, enough: () => boolean): Promise<void> {
  const ended = new Promise<void>((resolve, reject) => unpacking.on("finish", resolve).on("error", reject));
  const drained = () => new Promise<void>((resolve) => unpacking.once("drain", resolve));
  const fed = (async () => {
    for await (const chunk of archive) {
      if (enough()) return;
      if (!unpacking.write(chunk)) await drained();
    }
    unpacking.end();
    await ended;
  })();
  await Promise.race([fed, ended]);
}

/** Remembers the archive's links, so that nothing goes through one. */
class Guard {
  readonly #links = new Set<string>();

  refusal({ name, type }: Headers): string | undefined {
    const path = posix.join("/", name);
    for (let parent = posix.dirname(path); parent !== "/"; parent = posix.dirname(parent)) {
      if (this.#links.has(parent)) return `the sandbox's archive has ${JSON.stringify(name)} below a symbolic link`;
    }
    if (type === "directory" && this.#links.has(path))
      return `the sandbox's archive has ${JSON.stringify(name)} as a link and as a directory`;
    if (type === "symlink") this.#links.add(path);
    else this.#links.delete(path);
    return undefined;
  }
}

function isPlain({ type }: Headers): boolean {
  return type === "file" || type === "directory" || type === "symlink" || type === "link";
}

function without(path: string, name: string): string {
  const plain = posix.normalize(path).replace(/^\.\//, "").replace(/\/$/, "");
  if (plain === name) return ".";
  return name !== "" && plain.startsWith(`${name}/`) ? plain.slice(name.length + 1) : plain;
}
