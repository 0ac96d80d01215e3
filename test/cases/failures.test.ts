import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = new URL("../../docs/reference/failures.md", import.meta.url);
const rows = readFileSync(page, "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| what happens") && !line.startsWith("| ---"));

test.each(rows)("a row of the failure table has a test: %s", (row) => {
  const links = [...row.matchAll(/\]\(([^)#]+\.test\.ts)\)/g)].map(([, target = ""]) => target);
  expect(links).not.toEqual([]);
  for (const link of links) expect(existsSync(new URL(link, page)), link).toBe(true);
});
