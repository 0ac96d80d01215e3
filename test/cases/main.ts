import { globSync, readFileSync } from "node:fs";
import { loadResults } from "../../scripts/testing/store.ts";
import { scan } from "./scan.ts";
import { type Status, statusOf } from "./status.ts";

/** Prints every case from the field with its tests and how they ended in the last `npm test`. */
const cases = JSON.parse(readFileSync(new URL("cases.json", import.meta.url), "utf8")) as { id: string; area: string; title: string }[];
const ids = new Set(cases.map(({ id }) => id));
const patterns = [
  "packages/**/*.test.ts",
  "sdks/**/*.test.ts",
  "test/{system,soak}/**/*.test.ts",
  "packages/**/testing/**/*.ts",
  "native/**/*_test.go",
  "sdks/python/tests/test_*.py",
];
const files = [...new Set(globSync(patterns, { exclude: ["**/node_modules/**"] }))].sort();
const found = files.flatMap((file) => scan(file, readFileSync(file, "utf8"), ids));
const results = loadResults(["unit", "go", "python", "system", "faults", "soak"]);

const counts: Record<Status, number> = { passed: 0, failed: 0, "not run": 0, "not yet": 0 };
for (const { id, title } of cases) {
  const status = statusOf(id, found, results);
  counts[status] += 1;
  console.log(`${id}  ${status.padEnd(7)}  ${title}`);
  for (const test of found.filter((test) => test.id === id)) console.log(`              ${test.file}: ${test.name}`);
}
console.log(
  `\n${cases.length} cases: ${Object.entries(counts)
    .map(([status, count]) => `${count} ${status}`)
    .join(", ")}`,
);
process.exitCode = counts.failed > 0 ? 1 : 0;
