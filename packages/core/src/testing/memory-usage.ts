import type { Change } from "../ports/store.ts";
import type { UsageRecord } from "../ports/usage-store.ts";

/** The meters of a store in memory. */
export class MemoryUsage {
  readonly #usage = new Map<string, UsageRecord>();

  apply({ usage = [], forgottenUsage = [] }: Change): void {
    for (const record of usage) this.#usage.set(record.sandboxId, structuredClone(record));
    for (const id of forgottenUsage) this.#usage.delete(id);
  }

  async list(): Promise<UsageRecord[]> {
    return [...this.#usage.values()].sort((a, b) => (a.sandboxId < b.sandboxId ? -1 : 1)).map((record) => structuredClone(record));
  }
}
