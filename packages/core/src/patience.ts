import type { Clock } from "./ports/clock.ts";

/** How long a call is ready to wait, over all that it waits for. */
export class Patience {
  readonly #clock: Clock;
  readonly #endsAt: number | undefined;

  /** undefined: for ever. */
  constructor(clock: Clock, waitMs: number | undefined) {
    this.#clock = clock;
    this.#endsAt = waitMs === undefined ? undefined : clock.monotonicMs() + waitMs;
  }

  /** Whether it came to its end, well or not, before the patience did. */
  async outlasts(work: Promise<unknown>): Promise<boolean> {
    const settled = work.then(
      () => true,
      () => true,
    );
    if (this.#endsAt === undefined) return settled;
    const abort = new AbortController();
    const leftMs = Math.max(0, this.#endsAt - this.#clock.monotonicMs());
    const over = this.#clock.sleep(leftMs, abort.signal).then(
      () => false,
      () => false,
    );
    const outcome = await Promise.race([settled, over]);
    abort.abort();
    return outcome;
  }
}
