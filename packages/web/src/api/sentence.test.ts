import { TorporError } from "@torpor/contract/error";
import { expect, test } from "vitest";
import { sentence } from "./sentence.ts";

test("an error says what to do next, if it knows", () => {
  expect(sentence(new TorporError("forbidden", "no scope exec", { hint: "make a token that has it" }))).toBe(
    "no scope exec — make a token that has it",
  );
  expect(sentence(new TorporError("internal", "broken"))).toBe("broken");
  expect(sentence(new Error("odd"))).toBe("odd");
});
