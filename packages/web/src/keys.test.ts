import { expect, test } from "vitest";
import { matching, type Shortcut } from "./keys.ts";

const keys = (...all: string[]): Shortcut[] => all.map((one) => ({ keys: one, does: one, run: () => {} }));

test("two keys count after each other, and one alone", () => {
  const all = keys("g s", "s", "n");
  expect(matching(all, "g", "s")?.keys).toBe("g s");
  expect(matching(all, undefined, "s")?.keys).toBe("s");
  expect(matching(all, "x", "n")?.keys).toBe("n");
  expect(matching(all, undefined, "g")).toBeUndefined();
});
