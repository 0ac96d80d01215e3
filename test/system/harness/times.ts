/** Times of the same thing done often, in ms. */
export class Times {
  readonly #times: number[] = [];

  async measure<T>(work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const result = await work();
    this.add(performance.now() - began);
    return result;
  }

  /** One that was measured elsewhere. */
  add(ms: number): void {
    this.#times.push(ms);
  }

  /** The time that so great a share of them did not exceed; 1: the largest. */
  at(share: number): number {
    const sorted = this.#times.toSorted((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  }

  toString(): string {
    const [p50, p99, most] = [0.5, 0.99, 1].map((share) => Math.round(this.at(share)));
    return `p50 ${p50} ms, p99 ${p99} ms, largest ${most} ms`;
  }
}
