import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderCrossings } from "./reference.ts";

test("docs/reference/crossings.md is fresh: scripts/node scripts/reference/main.ts renews it", () => {
  expect(readFileSync(new URL("../../../docs/reference/crossings.md", import.meta.url), "utf8")).toBe(renderCrossings());
});
