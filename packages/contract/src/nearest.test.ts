import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

test.each([
  ["nmae", "name"],
  ["timeOut", "timeoutMs"],
  ["ttl", "ttlMs"],
  ["outputLimit", "outputLimitBytes"],
  ["tt", "ttlMs"],
  ["t", undefined],
  ["colour", undefined],
  ["", undefined],
] as const)("%j is nearest to %j", (word, meant) => {
  expect(nearest(word, ["name", "timeoutMs", "ttlMs", "outputLimitBytes"])).toBe(meant);
});
