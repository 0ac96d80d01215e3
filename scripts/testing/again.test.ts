import { expect, test } from "vitest";
import { fileItself, judge, mostAgain } from "./again.ts";
import type { TestResult } from "./result.ts";

const of = (file: string, name: string, status: TestResult["status"]): TestResult => ({ file, name, status });
const never = () => Promise.reject(new Error("it was run again"));

test("what failed beside others and passes alone wavers, and what fails twice has failed", async () => {
  const first = [of("a", "1", "failed"), of("a", "2", "passed"), of("b", "1", "failed"), of("c", "1", "passed")];
  const asked: string[][] = [];
  const { results, wavering } = await judge(first, async (files) => {
    asked.push(files);
    return [of("a", "1", "passed"), of("a", "2", "passed"), of("b", "1", "failed")];
  });
  expect(asked).toEqual([["a", "b"]]);
  expect(results).toEqual([of("b", "1", "failed"), of("c", "1", "passed"), of("a", "1", "passed"), of("a", "2", "passed")]);
  expect(wavering).toEqual([of("a", "1", "failed")]);
});

test("a file whose hook failed is what its tests are alone", async () => {
  const first = [of("a", "1", "skipped"), of("a", fileItself, "failed")];
  const alone = [of("a", "1", "passed")];
  expect(await judge(first, async () => alone)).toEqual({ results: alone, wavering: [of("a", fileItself, "failed")] });
});

test.each([
  ["another test of the file fails", [of("a", "1", "passed"), of("a", "2", "failed")], [of("a", "2", "failed")]],
  ["it is not run", [of("a", "2", "passed")], []],
  ["nothing is run", [], []],
  ["the run itself ends badly", [of("system", "vitest ended with 1", "failed")], [of("system", "vitest ended with 1", "failed")]],
])("no success: alone %s", async (_what, alone, added) => {
  const first = [of("a", "1", "failed"), of("a", "2", "passed")];
  expect(await judge(first, async () => alone)).toEqual({ results: [...first, ...added], wavering: [] });
});

test("nothing is run again where nothing failed, or too much to be chance", async () => {
  const passed = [of("a", "1", "passed")];
  expect(await judge(passed, never)).toEqual({ results: passed, wavering: [] });
  const many = Array.from({ length: mostAgain + 1 }, (_, i) => of(`file-${i}`, "1", "failed"));
  expect(await judge(many, never)).toEqual({ results: many, wavering: [] });
});
