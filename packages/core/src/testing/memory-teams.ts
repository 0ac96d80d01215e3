import type { Prices } from "@torpor/contract";
import { type Change, StoreConflict } from "../ports/store.ts";
import type { TeamRecord } from "../ports/team-store.ts";

/** Teams and prices of a store in memory. */
export class MemoryTeams {
  readonly #teams = new Map<string, TeamRecord>();
  prices: Prices | undefined;

  check({ teams = [] }: Change): void {
    for (const { name, version } of teams) {
      if ((this.#teams.get(name)?.version ?? 0) !== version) throw new StoreConflict("stale", `team ${name} is not at version ${version}`);
    }
  }

  apply({ teams = [], prices = this.prices }: Change): void {
    for (const record of teams) this.#teams.set(record.name, structuredClone({ ...record, version: record.version + 1 }));
    this.prices = prices;
  }

  list(): TeamRecord[] {
    return [...this.#teams.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map((record) => structuredClone(record));
  }
}
