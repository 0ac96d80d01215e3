import { globSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { Benchmark, BenchmarkResult } from "./lib/benchmark.ts";
import { runBenchmark } from "./lib/run.ts";
import { table } from "./lib/table.ts";

const usage = "usage: npm run bench -- [--only PATTERN] [--runs N] [--json FILE]";

process.exitCode = await main();

/** Runs the benchmarks one after the other and prints the table; exit code 1 when one is over its bound or failed. */
async function main(): Promise<number> {
  const { only, runs, json } = readOptions();
  const rows: BenchmarkResult[] = [];
  for (const file of globSync("bench/*.bench.ts").sort()) {
    for (const benchmark of await load(file)) {
      if (only !== undefined && !only.test(`${basename(file, ".bench.ts")} ${benchmark.name}`)) continue;
      console.error(`--- ${benchmark.name}`);
      rows.push(...(await runBenchmark(benchmark, runs, (error) => console.error(error))));
    }
  }
  if (json !== undefined) {
    writeFileSync(
      json,
      `${JSON.stringify(
        rows.map(({ name, value, floor, ratio, bound, pass }) => ({ name, value, floor, ratio, bound, pass })),
        null,
        2,
      )}\n`,
    );
  }
  console.log(rows.length > 0 ? table(rows) : `no benchmark${only === undefined ? " yet" : " matches"}`);
  return rows.every((row) => row.pass) ? 0 : 1;
}

async function load(file: string): Promise<Benchmark[]> {
  const module = (await import(pathToFileURL(resolve(file)).href)) as { benchmark?: Benchmark; benchmarks?: Benchmark[] };
  const found = [...(module.benchmark ? [module.benchmark] : []), ...(module.benchmarks ?? [])];
  if (found.length === 0) throw new Error(`${file} exports no benchmark; it must export benchmark or benchmarks (bench/lib/benchmark.ts)`);
  return found;
}

function readOptions(): { only: RegExp | undefined; runs: number; json: string | undefined } {
  const options = { only: { type: "string" }, runs: { type: "string", default: "15" }, json: { type: "string" } } as const;
  try {
    const { values } = parseArgs({ options });
    const runs = Number(values.runs);
    if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs ${values.runs} is not a whole number above 0`);
    return { only: values.only === undefined ? undefined : new RegExp(values.only, "i"), runs, json: values.json };
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : error}\n${usage}`);
    process.exit(2);
  }
}
