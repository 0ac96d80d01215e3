import { type Change, StoreConflict } from "../ports/store.ts";
import type { PlacedWakeup, WakeRecord, WakeStore, WakeupRecord } from "../ports/wake-store.ts";

type Versioned = Pick<WakeRecord, "id" | "version" | "sandboxId">;

/** The part of the in-memory store that keeps wakes. */
export class MemoryWakes implements WakeStore {
  readonly #wakes = new Map<string, WakeRecord>();
  readonly #wakeups = new Map<string, PlacedWakeup>();
  #seq = 0;

  /** Throws what speaks against a change, before any of it is made. */
  check({ wakes = [], endedWakes = [], wakeups = [], endedWakeups = [] }: Change, sandboxIds: ReadonlySet<string>): void {
    for (const record of [...wakes, ...endedWakes]) checkVersion(this.#wakes, record, sandboxIds);
    for (const record of [...wakeups, ...endedWakeups]) checkVersion(this.#wakeups, record, sandboxIds);
  }

  apply({ wakes = [], endedWakes = [], wakeups = [], endedWakeups = [], removed = [] }: Change): void {
    for (const record of wakes) this.#wakes.set(record.id, copy({ ...record, version: record.version + 1 }));
    for (const { id } of endedWakes) this.#wakes.delete(id);
    for (const record of wakeups) this.#place(record);
    for (const { id } of endedWakeups) this.#wakeups.delete(id);
    for (const { id } of removed) {
      for (const kept of [this.#wakes, this.#wakeups]) {
        for (const [key, { sandboxId }] of kept) if (sandboxId === id) kept.delete(key);
      }
    }
  }

  async listWakes(sandboxId?: string): Promise<WakeRecord[]> {
    return [...this.#wakes.values()].filter((wake) => sandboxId === undefined || wake.sandboxId === sandboxId).map(copy);
  }

  async findWake(id: string): Promise<WakeRecord | undefined> {
    const found = this.#wakes.get(id);
    return found && copy(found);
  }

  async findWakeByToken(tokenHash: string): Promise<WakeRecord | undefined> {
    const found = [...this.#wakes.values()].find((wake) => wake.tokenHash === tokenHash);
    return found && copy(found);
  }

  async nextWakeup(sandboxId: string): Promise<PlacedWakeup | undefined> {
    const found = [...this.#wakeups.values()].find((delivery) => delivery.sandboxId === sandboxId);
    return found && copy(found);
  }

  async countWakeups(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { sandboxId } of this.#wakeups.values()) counts.set(sandboxId, (counts.get(sandboxId) ?? 0) + 1);
    return counts;
  }

  #place(record: WakeupRecord): void {
    const { seq = ++this.#seq, call = record.call } = this.#wakeups.get(record.id) ?? {};
    this.#wakeups.set(record.id, copy({ ...record, call, version: record.version + 1, seq }));
  }
}

function checkVersion(kept: ReadonlyMap<string, Versioned>, { id, version, sandboxId }: Versioned, sandboxIds: ReadonlySet<string>): void {
  const stored = kept.get(id)?.version ?? 0;
  if (stored !== version) throw new StoreConflict("stale", `${id} is at version ${stored}, not ${version}`);
  if (!sandboxIds.has(sandboxId)) throw new StoreConflict("stale", `the sandbox ${sandboxId} of ${id} is gone`);
}

function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
