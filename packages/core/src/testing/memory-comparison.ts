import { type Difference, type FileFacts, TorporError } from "@torpor/contract";
import type { Comparison, FileTree } from "../ports/comparison.ts";
import type { MemoryDisks, MemoryFile } from "./memory-disks.ts";

/** Over disks in memory, whose images have no files. */
export class MemoryComparison implements Comparison {
  readonly #disks: MemoryDisks;

  constructor(disks: MemoryDisks) {
    this.#disks = disks;
  }

  async *compare(before: FileTree, after: FileTree, signal?: AbortSignal): AsyncIterable<Difference> {
    const [old, next] = [await this.#filesOf(before), await this.#filesOf(after)];
    for (const path of [...new Set([...old.keys(), ...next.keys()])].sort()) {
      signal?.throwIfAborted();
      const found = differenceOf(path, old.get(path), next.get(path));
      if (found !== undefined) yield found;
    }
  }

  async #filesOf({ disk }: FileTree): Promise<ReadonlyMap<string, MemoryFile>> {
    if (disk === null) return new Map();
    const id = disk.slice("memory:".length);
    if (!(await this.#disks.exists(id)))
      throw new TorporError("storage_failed", `there is no disk ${id}`, { details: { missing: "disk" } });
    return new Map(this.#disks.open(id).files);
  }
}

function differenceOf(path: string, before: MemoryFile | undefined, after: MemoryFile | undefined): Difference | undefined {
  const facts = { path, before: before === undefined ? null : factsOf(before), after: after === undefined ? null : factsOf(after) };
  if (after === undefined) return { change: "removed", what: [], ...facts };
  if (before === undefined) return { change: "added", what: [], ...facts };
  const what: Difference["what"] = [];
  if (before.content !== after.content) what.push("content");
  if (before.mode !== after.mode) what.push("mode");
  return what.length === 0 ? undefined : { change: "changed", what, ...facts };
}

function factsOf({ content, mode }: MemoryFile): FileFacts {
  return { type: "file", mode, uid: 0, gid: 0, size: content.length, target: null };
}
