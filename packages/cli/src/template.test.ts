import { expect, test } from "vitest";
import { table } from "./table.ts";
import { parseTemplate } from "./template.ts";

const record = { name: "base", image: { reference: "debian" }, labels: { "a.b/c": "d", "x.y": "z" }, count: 3, none: null, list: ["a"] };

test.each([
  ["{name} is {image.reference}", "base is debian"],
  ["{count}\\t{list}|{none}|{nope}|{name.nope}", '3\t["a"]||' + "|"],
  ["{labels.x.y}", "z"],
  ["{{{name}}}", "{base}"],
  ["plain", "plain"],
])("%s", (template, expected) => {
  expect(parseTemplate(template)(record)).toBe(expected);
});

test.each(["{name", "name}", "{}", "{a b}"])("%s is refused", (template) => {
  expect(() => parseTemplate(template)).toThrow(/brace/);
});

test("what comes from a sandbox stays in its line", () => {
  expect(parseTemplate("{name}")({ name: "a\n\x1b[2Jb" })).toBe("a [2Jb");
});

test("a table is cut to a terminal's width, the widest columns first, and nowhere else", () => {
  const rows = [["sb_1", "a".repeat(50), "short"]];
  expect(table(["ID", "TEXT", "END"], rows, 40)).toBe(`ID    TEXT                         END\nsb_1  ${"a".repeat(26)}…  short\n`);
  expect(table(["ID", "TEXT", "END"], rows)).toContain("a".repeat(50));
  for (const line of table(["ID", "TEXT", "END"], rows, 40).split("\n")) expect(line.length).toBeLessThanOrEqual(40);
});
