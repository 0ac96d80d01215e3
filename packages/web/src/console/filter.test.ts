import type { Sandbox } from "@torpor/contract";
import { expect, test } from "vitest";
import { matches } from "./filter.ts";

const sandbox = {
  id: "sb_abc",
  name: "Worker-7",
  state: "paused",
  image: { reference: "python:3.12" },
  labels: { owner: "me", step: "3" },
} as unknown as Sandbox;

test.each([
  ["", "any", true],
  ["worker", "any", true],
  ["worker python", "paused", true],
  ["owner=me step", "any", true],
  ["owner=you", "any", false],
  ["worker java", "any", false],
  ["", "running", false],
] as const)("%j of state %s: %s", (text, state, is) => {
  expect(matches(sandbox, { text, state })).toBe(is);
});
