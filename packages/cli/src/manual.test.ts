import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createProgram } from "./app.ts";
import { renderManual } from "./manual.ts";
import { renderReference } from "./reference.ts";

const committed = readFileSync(new URL("../../../docs/reference/torpor.1", import.meta.url), "utf8");

test("docs/reference/torpor.1 is fresh: scripts/generate renews it", async () => {
  expect(committed).toBe(renderManual(await renderReference()));
});

test("the manual has every command, and no line that roff would take for a request", async () => {
  for (const command of (await createProgram()).commands) expect(committed).toContain(`.SH TORPOR ${command.name().toUpperCase()}`);
  const requests = committed.split("\n").filter((line) => line.startsWith(".") || line.startsWith("'"));
  for (const line of requests) expect(line).toMatch(/^\.(TH|SH|PP|TP|EX|EE)\b/);
  expect(committed).toMatch(/^[\n\x20-\x7e]*$/);
  expect(committed).not.toContain("`");
});

test("what roff would read is written as it is", () => {
  expect(renderManual("a `x` [b](c.md)\n\n| | |\n|---|---|\n| `-n` | a \\| b |\n\n```sh\n.dot 'a\\n'\n```\n")).toMatch(
    /\.PP\na \\fBx\\fR b\n\.TP\n\\fB\\-n\\fR\na \| b\n\.PP\n\.EX\n\\&\.dot 'a\\en'\n\.EE\n$/,
  );
});
