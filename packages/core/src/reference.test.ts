import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderCrossings, renderFailpoints, renderStates } from "./reference.ts";
import { proofs } from "./testing/proofs.ts";

const root = new URL("../../../", import.meta.url);

test.each([
  ["crossings", () => renderCrossings(proofs)],
  ["states", () => renderStates(proofs)],
  ["failpoints", () => renderFailpoints(read("native/internal/shim/failpoint.go"))],
])("docs/reference/%s.md is fresh: scripts/node scripts/reference/main.ts renews it", (name, render) => {
  expect(read(`docs/reference/${name}.md`)).toBe(render());
});

function read(file: string): string {
  return readFileSync(new URL(file, root), "utf8");
}
