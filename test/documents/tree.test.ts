import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { blocksFor, root } from "./blocks.ts";

test.each(blocksFor(import.meta.url))("$document:$line: what stands at the beginning of each line is there", ({ text }) => {
  const paths = text
    .trim()
    .split("\n")
    .flatMap((line) => (line.split(/ {2,}/, 1)[0] ?? "").split(", "));
  expect(paths.length).toBeGreaterThan(5);
  expect(paths.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
});
