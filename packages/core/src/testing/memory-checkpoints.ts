import { TorporError } from "@torpor/contract";
import type { CheckpointManifest, Checkpoints } from "../ports/checkpoints.ts";

interface Place {
  readonly parts: Map<string, string>;
  manifest: string | null;
}

export class MemoryCheckpoints implements Checkpoints {
  readonly #places = new Map<string, Place>();
  freeBytes = Number.POSITIVE_INFINITY;

  async begin(id: string, needBytes: number): Promise<string> {
    if (needBytes > this.freeBytes) throw new TorporError("disk_full", `a checkpoint needs ${needBytes} bytes, ${this.freeBytes} are free`);
    if (this.#places.get(id)?.manifest) throw new Error(`checkpoint ${id} is sealed`);
    this.#places.set(id, { parts: new Map(), manifest: null });
    return this.locate(id);
  }

  async flush(id: string): Promise<void> {
    if (!this.#places.has(id)) throw new TorporError("storage_failed", `checkpoint ${id} was never begun`);
  }

  async seal(manifest: CheckpointManifest): Promise<void> {
    const place = this.#places.get(manifest.id);
    if (place === undefined) throw new TorporError("storage_failed", `checkpoint ${manifest.id} was never begun`);
    place.manifest = JSON.stringify(manifest);
  }

  async clone(sourceId: string, manifest: CheckpointManifest): Promise<void> {
    if (this.#places.get(manifest.id)?.manifest) return;
    const source = this.#places.get(sourceId);
    if (!source?.manifest) throw new TorporError("storage_failed", `there is no checkpoint ${sourceId} to copy`);
    this.#places.set(manifest.id, { parts: new Map(source.parts), manifest: JSON.stringify(manifest) });
  }

  async read(id: string): Promise<CheckpointManifest | undefined> {
    const manifest = this.#places.get(id)?.manifest;
    if (manifest === undefined || manifest === null) return undefined;
    try {
      return JSON.parse(manifest) as CheckpointManifest;
    } catch (cause) {
      throw new TorporError("checkpoint_corrupt", `the manifest of checkpoint ${id} can't be read`, { cause });
    }
  }

  locate(id: string): string {
    return `memory:${id}`;
  }

  async remove(id: string): Promise<void> {
    this.#places.delete(id);
  }

  async list(): Promise<string[]> {
    return [...this.#places.keys()];
  }

  /** For the engine: the parts at a location. */
  partsAt(location: string): Map<string, string> {
    const place = this.#places.get(location.slice("memory:".length));
    if (place === undefined) throw new TorporError("checkpoint_corrupt", `there is nothing at ${location}`);
    return place.parts;
  }

  /** For tests: as somebody copies another checkpoint's files over it. */
  replace(id: string, other: string): void {
    const place = this.#places.get(other);
    if (place === undefined) throw new Error(`no checkpoint ${other}`);
    this.#places.set(id, { parts: new Map(place.parts), manifest: place.manifest });
  }

  /** For tests: changes one byte of a part, or of the manifest. */
  corrupt(id: string, part: string): void {
    const place = this.#places.get(id);
    if (place === undefined) throw new Error(`no checkpoint ${id}`);
    if (part === "manifest") place.manifest = "{";
    else place.parts.set(part, `${place.parts.get(part) ?? ""}!`);
  }
}
