const firstMs = 1000;
const longestMs = 60_000;

/** How long to wait after each of several failures in a row: 1 s, 2 s and so on up to a minute. In memory: after a restart the first try is at once. */
export class Backoff {
  readonly #failures = new Map<string, number>();

  /** After one more failure. */
  next(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    return Math.min(firstMs * 2 ** failures, longestMs);
  }

  /** It went well. */
  clear(key: string): void {
    this.#failures.delete(key);
  }
}
