import type { Hold } from "@torpor/core";

type Listener = (runtimeId: string, hold: Hold | null) => void;

/** Which runtimes are held, as their shims tell it. Who listens hears of changes alone. */
export class Holds {
  readonly #held = new Map<string, Hold>();
  readonly #listeners: Listener[] = [];

  get(runtimeId: string): Hold | null {
    return this.#held.get(runtimeId) ?? null;
  }

  set(runtimeId: string, hold: Hold | null): void {
    if ((this.#held.get(runtimeId)?.since ?? null) === (hold?.since ?? null)) return;
    if (hold === null) this.#held.delete(runtimeId);
    else this.#held.set(runtimeId, hold);
    for (const listener of this.#listeners) listener(runtimeId, hold);
  }

  /** Of one that ends nothing is told. */
  forget(runtimeId: string): void {
    this.#held.delete(runtimeId);
  }

  listen(listener: Listener): void {
    this.#listeners.push(listener);
  }
}
