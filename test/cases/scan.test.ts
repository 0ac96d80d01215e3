import { expect, test } from "vitest";
import { scan } from "./scan.ts";
import { statusOf } from "./status.ts";

const ids = new Set(["P01", "L09", "E10", "C01"]);
const found = (file: string, source: string) => scan(file, source, ids).map(({ id, name }) => `${id}: ${name}`);

test("ids are found in the names of tests and groups, and nowhere else", () => {
  const source = `
    // P01 in a comment
    test("P01 and L09: files stay", () => {});
    describe('E10', () => { it.concurrent(\`stdin ends\`, () => expect("C01").toBe(1)) });
    test.each([1, 2])("C01 at %s", () => {});
    test("P011, XP01 and P99 are other words", () => {});
    test.each([
      ["made", layer("x")],
    ])("L09: %s is refused", () => {});
  `;
  expect(found("a.test.ts", source)).toEqual([
    "P01: P01 and L09: files stay",
    "L09: P01 and L09: files stay",
    "E10: E10",
    "C01: C01 at %s",
    "L09: L09: %s is refused",
  ]);
});

test("ids are found in the names of Go tests and their parts", () => {
  const source = `
func TestE10StdinEnds(t *testing.T) { t.Run("L09 symlink", f) }
func TestJournal_P01(t *testing.T) {}
func helperC01() {}
`;
  expect(found("a_test.go", source)).toEqual(["E10: TestE10StdinEnds", "P01: TestJournal_P01", "L09: L09 symlink"]);
});

test("ids are found in the names of Python tests", () => {
  const source = `
def test_E10_stdin_ends(sandbox: Sandbox) -> None: ...
async def test_L09_and_P01(sandbox: AsyncSandbox) -> None: ...
def helper_C01(): ...
`;
  expect(found("test_a.py", source)).toEqual(["E10: test_E10_stdin_ends", "L09: test_L09_and_P01", "P01: test_L09_and_P01"]);
});

test("a case has passed only when a test of it ran and none failed", () => {
  const tests = [{ id: "P01", file: "a.test.ts", name: "P01 x" }];
  const result = (name: string, status: "passed" | "failed" | "skipped") => ({ file: "a.test.ts", name, status });
  expect(statusOf("P01", tests, [])).toBe("not run");
  expect(statusOf("P01", tests, [result("P01 x", "skipped")])).toBe("not run");
  expect(statusOf("P01", tests, [result("group P01 x", "passed")])).toBe("passed");
  expect(statusOf("P01", tests, [result("P01 x", "passed"), result("P01 y", "failed")])).toBe("failed");
  expect(statusOf("L09", tests, [result("P01 x", "passed")])).toBe("not yet");
});
