import { expect, test } from "vitest";
import { plotPoints } from "./plot.tsx";

test("the newest value is at the right, and what is over the top is drawn at the top", () => {
  expect(plotPoints([0, 50, 500], 100, 5, 40, 12)).toEqual([
    [20, 11],
    [30, 6],
    [40, 1],
  ]);
});

test("only as many values as there are places", () => {
  expect(plotPoints([1, 2, 3, 4], 4, 2, 10, 10).map(([x]) => x)).toEqual([0, 10]);
  expect(plotPoints([], 4, 2, 10, 10)).toEqual([]);
});
