import type { BenchmarkContext } from "./benchmark.ts";
import { median } from "./median.ts";

/** A context and the end of it, which runs what the benchmark left to be released; the first error of a release is kept. */
export function createContext(runs: number): BenchmarkContext & AsyncDisposable {
  const releases: (() => Promise<void> | void)[] = [];
  return {
    runs,
    async compare({ value, floor }) {
      const times = { value: [] as number[], floor: [] as number[] };
      for (let run = 0; run < runs; run++) {
        times.floor.push(await timeMs(floor));
        times.value.push(await timeMs(value));
      }
      return { value: median(times.value), floor: median(times.floor) };
    },
    onEnd: (release) => releases.push(release),
    say: (text) => process.stderr.write(`    ${text}\n`),
    async [Symbol.asyncDispose]() {
      const errors: unknown[] = [];
      for (const release of releases.reverse()) {
        try {
          await release();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    },
  };
}

async function timeMs(action: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await action();
  return performance.now() - started;
}
