import { runGo } from "./go.ts";
import { runPython } from "./python.ts";
import { closingLine, type TestResult, totals } from "./result.ts";
import { storeResults } from "./store.ts";
import { runVitest } from "./vitest.ts";

type Suite = "unit" | "system" | "faults" | "soak" | "go" | "python";

const suites: Record<Suite, (args: string[]) => Promise<TestResult[]>> = {
  unit: (args) => runVitest("unit", args),
  go: runGo,
  python: runPython,
  system: (args) => runVitest("system", args),
  faults: (args) => runVitest("faults", args),
  soak: (args) => runVitest("soak", args),
};

/** What runs without a choice: those of a lane one after the other, and the lanes, which take about as long, beside each other. */
const lanes: readonly (readonly Suite[])[] = [
  ["unit", "system"],
  ["go", "python", "faults"],
];

const [name, ...args] = process.argv.slice(2);
process.exitCode = await main(name, args);

async function main(chosen: string | undefined, rest: string[]): Promise<number> {
  if (chosen !== undefined && !isSuite(chosen)) {
    console.error(`error: there is no test suite ${chosen}; choose one of ${Object.keys(suites).join(", ")}, or none for all but soak`);
    return 2;
  }
  const chosenLanes = chosen === undefined ? lanes : [[chosen]];
  return report((await Promise.all(chosenLanes.map((lane) => runLane(lane, rest)))).flat());
}

async function runLane(lane: readonly Suite[], rest: string[]): Promise<TestResult[]> {
  const results: TestResult[] = [];
  for (const suite of lane) results.push(...(await run(suite, rest)));
  return results;
}

async function run(suite: Suite, rest: string[]): Promise<TestResult[]> {
  console.log(`\n--- ${suite}`);
  const found = await suites[suite](rest);
  storeResults(suite, found, rest.length === 0 ? "whole" : "part");
  return found;
}

function report(results: TestResult[]): number {
  const sum = totals(results);
  const failed = results.filter((result) => result.status === "failed");
  if (failed.length > 0) console.log(`\nFailed:\n${failed.map(({ file, name }) => `  ${file}: ${name}`).join("\n")}`);
  if (sum.passed + sum.failed === 0) console.log("\nNo test ran.");
  console.log(`\n${closingLine(sum)}`);
  return sum.failed > 0 || sum.passed === 0 ? 1 : 0;
}

function isSuite(text: string): text is Suite {
  return Object.hasOwn(suites, text);
}
