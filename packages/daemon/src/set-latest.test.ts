import { expect, test } from "vitest";
import { setLatest } from "./set-latest.ts";

test("what was set longest ago goes first, and what is set again counts as new", () => {
  const map = new Map<string, number>();
  for (const [at, key] of ["a", "b", "a", "c", "d"].entries()) setLatest(map, key, at, 3);
  expect([...map]).toEqual([
    ["a", 2],
    ["c", 3],
    ["d", 4],
  ]);
});
