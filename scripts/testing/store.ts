import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestResult } from "./result.ts";

const directory = "test/.results";

/** Remembers the last result of every test, for `npm run cases`. A run of a part replaces what was known of its files alone. */
export function storeResults(suite: string, results: readonly TestResult[], run: "whole" | "part"): void {
  const files = new Set(results.map((result) => result.file));
  const kept = run === "whole" ? [] : loadResults([suite]).filter((result) => !files.has(result.file));
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${suite}.json`), JSON.stringify([...kept, ...results], null, 1));
}

export function loadResults(suites: readonly string[]): TestResult[] {
  return suites.flatMap((suite) => {
    try {
      return JSON.parse(readFileSync(join(directory, `${suite}.json`), "utf8")) as TestResult[];
    } catch {
      return []; // never run here
    }
  });
}
