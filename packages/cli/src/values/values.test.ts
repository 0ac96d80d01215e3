import { describe, expect, test } from "vitest";
import { parseAmount, parseCount } from "./count.ts";
import { formatDuration, parseDuration } from "./duration.ts";
import { addVariable } from "./pair.ts";
import { formatSize, parseSize } from "./size.ts";

test.each([
  ["512MiB", 536_870_912],
  ["1g", 1_073_741_824],
  ["1.5g", 1_610_612_736],
  ["10GB", 10_000_000_000],
  ["10 GB", 10_000_000_000],
  ["64k", 65_536],
  ["4096", 4096],
  ["4096B", 4096],
])("size %s", (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each(["", "x", "12zz", "-1g", "0", "1e9", "1.g", "1 0g", "99999999t", "0x10", "1gg"])("%j is no size", (text) => {
  expect(() => parseSize(text)).toThrow(/is no size/);
});

test.each([
  ["500ms", 500],
  ["10s", 10_000],
  ["1.5m", 90_000],
  ["1h", 3_600_000],
])("duration %s", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(["", "10", "s", "-1s", "1 s", "1w"])("%j is no duration", (text) => {
  expect(() => parseDuration(text)).toThrow(/is no duration/);
});

describe("for people", () => {
  test("sizes", () => {
    expect([0, 1023, 3_000_000, 536_870_912].map(formatSize)).toEqual(["0 B", "1023 B", "2.9 MiB", "512 MiB"]);
  });
  test("durations", () => {
    expect([0, 61_000, 90_061_000].map(formatDuration)).toEqual(["0s", "1m1s", "1d1h"]);
  });
});

test("counts, amounts and variables are strict", () => {
  expect([parseCount("12"), parseAmount("0.5")]).toEqual([12, 0.5]);
  for (const text of ["0", "-1", "1.5", "x", ""]) expect(() => parseCount(text)).toThrow();
  for (const text of ["0", "-1", "x", "", "1e3"]) expect(() => parseAmount(text)).toThrow();
  expect(addVariable("A=b=c", { X: "y" })).toEqual({ X: "y", A: "b=c" });
  expect(() => addVariable("TORPOR_SURELY_NOT_SET")).toThrow(/not set here/);
});
