import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createProgram } from "./app.ts";
import { examplesOf } from "./examples.ts";
import { renderReference } from "./reference.ts";

test("docs/reference/cli.md is fresh: scripts/node packages/cli/src/reference-main.ts renews it", async () => {
  expect(readFileSync(new URL("../../../docs/reference/cli.md", import.meta.url), "utf8")).toBe(await renderReference());
});

test("every command has a description and examples that call it", async () => {
  const all = (await createProgram()).commands.flatMap((command) => [command, ...command.commands]);
  expect(all.length).toBeGreaterThan(20);
  for (const command of all) {
    expect(command.description(), command.name()).not.toBe("");
    expect(examplesOf(command).join("\n"), command.name()).toContain(command.name());
  }
});
