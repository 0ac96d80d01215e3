import type { Clock } from "../ports/clock.ts";

/** A clock that was set, or a host that slept, is noticed so late; it also keeps far under the 2^31 ms at which a timer of Node.js fires at once. */
const longestSleepMs = 60_000;
/** So many are dealt with at a time: a thousand sandboxes that expire together must not starve those that run. */
const atOnce = 8;

/** Any number of instants, by one timer for the nearest. What is due is dealt with once at a time for each key. */
export class Timers {
  readonly #clock: Clock;
  readonly #fire: (key: string) => Promise<void>;
  readonly #due = new Map<string, number>();
  readonly #firing = new Map<string, Promise<void>>();
  #sleep: AbortController | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;
  #closed = false;

  /** `fire` must not fail; it may set its key again. */
  constructor(clock: Clock, fire: (key: string) => Promise<void>) {
    this.#clock = clock;
    this.#fire = fire;
  }

  /** In place of an earlier instant of the same key. */
  set(key: string, atMs: number): void {
    this.#due.set(key, atMs);
    // Only what is nearer than the sleep in progress changes it: a use moves an instant away, and would cost a new timer each.
    if (atMs < this.#wakesAt) this.#arm();
  }

  clear(key: string): void {
    this.#due.delete(key);
  }

  /** Nothing fires from now on. Resolves when what has fired is dealt with. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#sleep?.abort();
    await Promise.all(this.#firing.values());
  }

  #arm(): void {
    this.#sleep?.abort();
    this.#sleep = undefined;
    this.#wakesAt = Number.POSITIVE_INFINITY;
    if (this.#closed || this.#firing.size >= atOnce) return;
    for (const [key, atMs] of this.#due) if (!this.#firing.has(key)) this.#wakesAt = Math.min(this.#wakesAt, atMs);
    if (this.#wakesAt === Number.POSITIVE_INFINITY) return;
    const sleep = new AbortController();
    this.#sleep = sleep;
    const ms = Math.min(Math.max(0, this.#wakesAt - this.#clock.now().getTime()), longestSleepMs);
    this.#clock.sleep(ms, sleep.signal).then(
      () => this.#wake(sleep),
      () => {},
    );
  }

  #wake(sleep: AbortController): void {
    // A sleep that had ended before its abort comes here all the same.
    if (this.#closed || this.#sleep !== sleep) return;
    const now = this.#clock.now().getTime();
    const due = [...this.#due].filter(([key, atMs]) => atMs <= now && !this.#firing.has(key)).sort(([, a], [, b]) => a - b);
    for (const [key] of due.slice(0, atOnce - this.#firing.size)) this.#start(key);
    this.#arm();
  }

  #start(key: string): void {
    this.#due.delete(key);
    const done = this.#fire(key).finally(() => {
      this.#firing.delete(key);
      this.#arm();
    });
    this.#firing.set(key, done);
  }
}
