/** Time, so that policies and tests can have their own. */
export interface Clock {
  now(): Date;
  /** Milliseconds with fractions from some fixed instant, never going back: for durations. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
