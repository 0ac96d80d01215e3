import type { Clock } from "../ports/clock.ts";

/** Time that goes on only when told, or, with `auto`, as far as whoever sleeps wants it to. */
export class FakeClock implements Clock {
  #nowMs = Date.parse("2026-01-01T00:00:00Z");
  /** How far the wall clock was set, forward or back. */
  #setMs = 0;
  #sleepers: { until: number; wake: () => void }[] = [];
  readonly #auto: boolean;

  constructor({ auto = true }: { auto?: boolean } = {}) {
    this.#auto = auto;
  }

  now(): Date {
    return new Date(this.#nowMs + this.#setMs);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#auto) {
      this.advance(ms);
      return Promise.resolve();
    }
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#sleepers.push({ until: this.#nowMs + ms, wake: resolve });
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }

  /** As somebody sets a host's clock: durations go on as before. */
  set(byMs: number): void {
    this.#setMs += byMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    const due = this.#sleepers.filter(({ until }) => until <= this.#nowMs);
    this.#sleepers = this.#sleepers.filter(({ until }) => until > this.#nowMs);
    for (const { wake } of due) wake();
  }
}
