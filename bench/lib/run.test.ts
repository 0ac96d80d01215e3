import { expect, test } from "vitest";
import type { Benchmark } from "./benchmark.ts";
import { median } from "./median.ts";
import { runBenchmark } from "./run.ts";
import { table } from "./table.ts";

const benchmark = (run: Benchmark["run"]): Benchmark => ({ name: "pause", unit: "ms", bound: 1.3, run });
const unexpected = (error: unknown) => expect.unreachable(String(error));

test("a benchmark passes up to its bound", async () => {
  const at = (value: number) =>
    runBenchmark(
      benchmark(async () => ({ value, floor: 100 })),
      1,
      unexpected,
    );
  expect(await at(130)).toEqual([{ name: "pause", unit: "ms", value: 130, floor: 100, ratio: 1.3, bound: 1.3, pass: true }]);
  expect((await at(131))[0]?.pass).toBe(false);
});

test("several measurements have their own names, bounds and units", async () => {
  const measured = [
    { name: "a", value: 2, floor: 1, bound: 2, unit: "MB" },
    { name: "b", value: 2, floor: 1 },
  ];
  const results = await runBenchmark(
    benchmark(async () => measured),
    1,
    unexpected,
  );
  expect(results.map(({ name, unit, bound, pass }) => [name, unit, bound, pass])).toEqual([
    ["a", "MB", 2, true],
    ["b", "ms", 1.3, false],
  ]);
});

test("value and floor are measured in turn, and everything is released in reverse order", async () => {
  const steps: string[] = [];
  const step = (name: string) => async () => void steps.push(name);
  await runBenchmark(
    benchmark(async ({ compare, onEnd }) => {
      onEnd(step("first released last"));
      onEnd(step("released"));
      return compare({ value: step("value"), floor: step("floor") });
    }),
    2,
    unexpected,
  );
  expect(steps).toEqual(["floor", "value", "floor", "value", "released", "first released last"]);
});

test("a benchmark that fails, or cannot clean up, does not pass", async () => {
  const errors: unknown[] = [];
  const failing = benchmark(() => Promise.reject(new Error("no engine")));
  const leaking = benchmark(async ({ onEnd }) => {
    onEnd(() => Promise.reject(new Error("still mounted")));
    return { value: 1, floor: 1 };
  });
  for (const each of [failing, leaking]) {
    const results = await runBenchmark(each, 1, (error) => errors.push(error));
    expect(results.map(({ pass }) => pass)).toEqual([false]);
  }
  expect(errors.map(String)).toEqual(["Error: no engine", "Error: still mounted"]);
});

test("the table lines up", () => {
  const row = { name: "pause, idle", value: 94.26, floor: 1234.5, ratio: 0.0764, bound: 1.3, pass: true, unit: "ms" };
  expect(table([row])).toBe(
    ["name           value    floor  ratio  bound  pass", "pause, idle  94.3 ms  1235 ms   0.08   1.30   yes"].join("\n"),
  );
});

test("medians", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 2, 9])).toBe(3);
  expect(() => median([])).toThrow("nothing was measured");
});
