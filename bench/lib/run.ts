import type { Benchmark, BenchmarkResult, NamedMeasurement } from "./benchmark.ts";
import { createContext } from "./context.ts";

/** Runs one benchmark. One that fails gives a result too, without figures, so that the others still run and the table shows it. */
export async function runBenchmark(benchmark: Benchmark, runs: number, onError: (error: unknown) => void): Promise<BenchmarkResult[]> {
  try {
    await using context = createContext(runs);
    const measured = await benchmark.run(context);
    const list = Array.isArray(measured) ? measured : [{ ...measured, name: benchmark.name }];
    if (list.length === 0) throw new Error(`${benchmark.name} measured nothing`);
    return list.map((measurement) => judge(measurement, benchmark));
  } catch (error) {
    onError(error);
    const none = Number.NaN;
    const { name, unit, bound } = benchmark;
    return [{ name, unit, value: none, floor: none, ratio: none, bound, pass: false }];
  }
}

function judge({ name, value, floor, ...own }: NamedMeasurement, shared: Benchmark): BenchmarkResult {
  const { unit, bound } = { unit: shared.unit, bound: shared.bound, ...own };
  const ratio = value / floor;
  return { name, unit, value, floor, ratio, bound, pass: ratio <= bound };
}
