import { TorporError } from "@torpor/contract";
import type { Disks } from "../ports/disks.ts";

export interface MemoryFile {
  readonly content: string;
  readonly mode: number;
}

export interface MemoryDisk {
  readonly sizeBytes: number;
  readonly files: Map<string, MemoryFile>;
}

/** Disks as tables of files. It refuses what would tear a real one: copies and removals of a disk in use. */
export class MemoryDisks implements Disks {
  readonly #disks = new Map<string, MemoryDisk>();
  /** Set by the engine: how a disk is used. */
  usage: (id: string) => "running" | "frozen" | null = () => null;
  /** Disks that may exist at once; the pool's end for tests. */
  room = Number.POSITIVE_INFINITY;

  async create(id: string, sizeBytes: number): Promise<void> {
    const present = this.#disks.get(id);
    if (present !== undefined && present.sizeBytes === sizeBytes) return;
    this.#checkRoom();
    this.#disks.set(id, { sizeBytes, files: new Map() });
  }

  async clone(sourceId: string, id: string): Promise<void> {
    if (this.#disks.has(id)) return;
    const source = this.open(sourceId);
    if (this.usage(sourceId) === "running") throw new Error(`disk ${sourceId} is cloned while it is written`);
    this.#checkRoom();
    this.#disks.set(id, { sizeBytes: source.sizeBytes, files: new Map(source.files) });
  }

  async sync(id: string): Promise<void> {
    this.open(id);
  }

  async remove(id: string): Promise<void> {
    if (this.usage(id) !== null) throw new Error(`disk ${id} is removed while a runtime has it`);
    this.#disks.delete(id);
  }

  async exists(id: string): Promise<boolean> {
    return this.#disks.has(id);
  }

  async list(): Promise<string[]> {
    return [...this.#disks.keys()];
  }

  locate(id: string): string {
    return `memory:${id}`;
  }

  async storedBytes(id: string): Promise<number> {
    return [...this.open(id).files.values()].reduce((sum, { content }) => sum + content.length, 0);
  }

  open(id: string): MemoryDisk {
    const disk = this.#disks.get(id);
    if (disk === undefined) throw new TorporError("storage_failed", `there is no disk ${id}`);
    return disk;
  }

  openAt(location: string): { id: string; disk: MemoryDisk } {
    const id = location.slice("memory:".length);
    return { id, disk: this.open(id) };
  }

  #checkRoom(): void {
    if (this.#disks.size >= this.room) throw new TorporError("disk_full", "the pool has no room for another disk: free some");
  }
}
