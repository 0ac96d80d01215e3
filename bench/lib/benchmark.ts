/**
 * A file bench/<name>.bench.ts exports `benchmark` (or `benchmarks`, a list). Each measures what Torpor takes and, in the same run on the
 * same machine, the floor: the same steps by hand. It passes when value ÷ floor ≤ bound. An absolute limit is a floor with bound 1.
 */
export type Benchmark = {
  name: string;
  /** What value and floor are counted in: ms, MB, … Smaller is better. */
  unit: string;
  bound: number;
  /** May measure several things at once, each with its own name and, if they differ, bound and unit. */
  run(context: BenchmarkContext): Promise<Measurement | NamedMeasurement[]>;
};

export type Measurement = { value: number; floor: number };
export type NamedMeasurement = Measurement & { name: string; bound?: number; unit?: string };

export type BenchmarkContext = {
  /** How many times to measure; figures are medians. */
  runs: number;
  /** The medians of both in milliseconds, measured in turn so that what else the machine does meets both alike. */
  compare(actions: { value: () => Promise<void>; floor: () => Promise<void> }): Promise<Measurement>;
  /** Called in reverse order when the benchmark has ended, also when it failed. */
  onEnd(release: () => Promise<void> | void): void;
  /** Progress, to stderr. */
  say(text: string): void;
};

export type BenchmarkResult = { name: string; unit: string; value: number; floor: number; ratio: number; bound: number; pass: boolean };
