import { expect, test } from "vitest";
import { changesOf, objectionTo, rowsOf } from "./label-rows.ts";

test("only what was changed is asked for", () => {
  const before = { owner: "me", step: "3", keep: "" };
  expect(changesOf(before, rowsOf(before))).toEqual({});
  const rows = [
    { name: "owner", value: "you" },
    { name: "keep", value: "" },
    { name: "new", value: "a=b" },
    { name: "", value: "" },
  ];
  expect(changesOf(before, rows)).toEqual({ step: null, owner: "you", new: "a=b" });
});

test("a label of another name is one that goes and one that comes", () => {
  expect(changesOf({ step: "3" }, [{ name: "stage", value: "3" }])).toEqual({ step: null, stage: "3" });
});

test.each([
  [{ name: "a", value: "" }, undefined],
  [{ name: "", value: "" }, undefined],
  [{ name: "", value: "x" }, /needs a name/],
  [{ name: "n".repeat(64), value: "" }, /at most 63/],
  [{ name: "a", value: "v".repeat(256) }, /at most 255/],
  [{ name: "taken", value: "" }, /already/],
])("%j", (row, objection) => {
  const told = objectionTo([{ name: "taken", value: "1" }, row], 1);
  if (objection === undefined) expect(told).toBeUndefined();
  else expect(told).toMatch(objection);
});
