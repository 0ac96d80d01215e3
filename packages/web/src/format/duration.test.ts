import { expect, test } from "vitest";
import { formatClock, formatSpan, formatTook, parseSpan, spanField } from "./duration.ts";

test("a clock counts on over hours and days", () => {
  expect([0, 12_999, 3_723_000, 176_523_000].map(formatClock)).toEqual(["00:00", "00:12", "1:02:03", "2 d 1:02:03"]);
});

test("what took long has less digits", () => {
  expect([87.4, 1240, 12_340, 125_000].map(formatTook)).toEqual(["87 ms", "1.24 s", "12.3 s", "2 min 5 s"]);
});

test("a span has two units at most", () => {
  expect([0, 5000, 300_000, 273_600_000].map(formatSpan)).toEqual(["0 s", "5 s", "5 min", "3 d 4 h"]);
});

test("what a field shows is read as the same", () => {
  for (const ms of [1000, 90_000, 5_400_000, 172_800_000]) expect(parseSpan(spanField(ms))).toBe(ms);
  expect(spanField(null)).toBe("");
  expect([parseSpan("1h 30min"), parseSpan("soon"), parseSpan("5"), parseSpan("")]).toEqual([5_400_000, undefined, undefined, undefined]);
});
