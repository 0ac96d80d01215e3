import { posix } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { TorporError } from "@torpor/sdk";
import { extract, type Headers } from "tar-fs";
import { say } from "../failure.ts";

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
export async function extractInto(directory: string, archive: AsyncIterable<Uint8Array>, name: string): Promise<number> {
  const guard = new Guard();
  let mode = 0o755;
  let special = 0;
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
      if (refusal !== undefined) unpacking.destroy(new TorporError("invalid_archive", refusal, { hint: "Nothing was copied." }));
      return refusal !== undefined || !isPlain(header);
    },
  } as Parameters<typeof extract>[1]);
  await pipeline(Readable.from(archive, { objectMode: false }), unpacking);
  if (special > 0) say(`torpor: ${special} devices, pipes or the like were left out`);
  return mode;
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
