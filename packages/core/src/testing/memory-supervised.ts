import { type Change, StoreConflict } from "../ports/store.ts";
import type { SupervisedRecord, SupervisedStore } from "../ports/supervised-store.ts";

/** The part of the in-memory store that keeps supervised sessions. */
export class MemorySupervised implements SupervisedStore {
  readonly #records = new Map<string, SupervisedRecord>();

  /** Throws what speaks against a change, before any of it is made. */
  check({ supervised = [], endedSupervised = [] }: Change, sandboxIds: ReadonlySet<string>): void {
    for (const record of [...supervised, ...endedSupervised]) {
      const stored = this.#records.get(placeOf(record))?.version ?? 0;
      if (stored !== record.version) throw new StoreConflict("stale", `${record.id} is at version ${stored}, not ${record.version}`);
      if (!sandboxIds.has(record.sandboxId)) throw new StoreConflict("stale", `the sandbox ${record.sandboxId} of ${record.id} is gone`);
    }
  }

  apply({ supervised = [], endedSupervised = [], removed = [] }: Change): void {
    for (const record of supervised) this.#records.set(placeOf(record), copy({ ...record, version: record.version + 1 }));
    for (const record of endedSupervised) this.#records.delete(placeOf(record));
    for (const { id } of removed) {
      for (const [place, { sandboxId }] of this.#records) if (sandboxId === id) this.#records.delete(place);
    }
  }

  async listSupervised(sandboxId?: string): Promise<SupervisedRecord[]> {
    return [...this.#records.values()].filter((record) => sandboxId === undefined || record.sandboxId === sandboxId).map(copy);
  }

  async findSupervised(sandboxId: string, id: string): Promise<SupervisedRecord | undefined> {
    const found = this.#records.get(placeOf({ sandboxId, id }));
    return found && copy(found);
  }
}

const placeOf = ({ sandboxId, id }: Pick<SupervisedRecord, "sandboxId" | "id">): string => `${sandboxId} ${id}`;

function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
