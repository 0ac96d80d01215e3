import { existsSync } from "node:fs";
import { type Judged, judge } from "./again.ts";
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
  if (chosen !== undefined) return report(await run(chosen, rest));
  const ran = new Map((await Promise.all(lanes.map(runLane))).flat());
  const judged: Judged[] = [];
  for (const [suite, results] of ran) judged.push(await judge(results, (files) => runAlone(suite, files)));
  return report(
    judged.flatMap(({ results }) => results),
    judged.flatMap(({ wavering }) => wavering),
  );
}

async function runLane(lane: readonly Suite[]): Promise<(readonly [Suite, TestResult[]])[]> {
  const results: (readonly [Suite, TestResult[]])[] = [];
  for (const suite of lane) results.push([suite, await run(suite, [])]);
  return results;
}

/** Nothing for what is no file: a run that ended badly as a whole. */
async function runAlone(suite: Suite, files: string[]): Promise<TestResult[]> {
  if (!files.every((file) => existsSync(file))) return [];
  // Go runs packages, and Python's tests are few.
  if (suite === "go")
    return run(
      suite,
      files.map((file) => file.replace(/^native/, ".")),
    );
  return run(suite, suite === "python" ? ["tests"] : files);
}

async function run(suite: Suite, rest: string[]): Promise<TestResult[]> {
  console.log(`\n--- ${suite}`);
  const found = await suites[suite](rest);
  storeResults(suite, found, rest.length === 0 ? "whole" : "part");
  return found;
}

function report(results: TestResult[], wavering: TestResult[] = []): number {
  const sum = totals(results);
  list("Failed beside others and passed alone (each is a fault of the product or of the test, and is to be found)", wavering);
  list(
    "Failed",
    results.filter((result) => result.status === "failed"),
  );
  if (sum.passed + sum.failed === 0) console.log("\nNo test ran.");
  console.log(`\n${closingLine(sum)}`);
  return sum.failed > 0 || sum.passed === 0 ? 1 : 0;
}

function list(title: string, tests: readonly TestResult[]): void {
  if (tests.length > 0) console.log(`\n${title}:\n${tests.map(({ file, name }) => `  ${file}: ${name}`).join("\n")}`);
}

function isSuite(text: string): text is Suite {
  return Object.hasOwn(suites, text);
}
