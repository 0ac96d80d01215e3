import { expect, test } from "vitest";
import { needsMore } from "./needs-more.ts";

test.each([
  ["x = 1\n", false],
  ["for i in range(3):\n", true],
  ["for i in range(3):\n    print(i)\n", true],
  ["for i in range(3):\n    print(i)\n\n", false],
  ["f(1,\n", true],
  ["f(1,\n  2)\n", false],
  ['s = """a\n', true],
  ['s = """a\nb"""\n', false],
  ["s = ')' # (\n", false],
  ["x = 1 + \\\n", true],
  ["@cache\n", true],
])("%j: %s", (code, more) => expect(needsMore(code)).toBe(more));
