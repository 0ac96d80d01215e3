import { expect, test } from "vitest";
import { parseJunit } from "./junit.ts";

test("a JUnit report's tests have their files, names and ends", () => {
  const xml = `<?xml version="1.0"?><testsuites><testsuite tests="4"><testcase classname="t" name="test_a" file="tests/test_a.py" time="0.1" />
<testcase classname="t" name="test_b[&quot;x&quot; &gt; 1]" file="tests/test_a.py"><failure message="a &gt; b">trace</failure></testcase>
<testcase classname="t" name="test_c" file="tests/test_a.py"><skipped type="pytest.skip" message="no" /></testcase>
<testcase classname="" name="tests.test_d" file="tests/test_d.py"><error message="collection failure">import</error></testcase>
<testcase classname="t" name="test_e" file="tests/test_a.py"><system-out>failure</system-out></testcase></testsuite></testsuites>`;
  expect(parseJunit(xml)).toEqual([
    { file: "tests/test_a.py", name: "test_a", status: "passed" },
    { file: "tests/test_a.py", name: 'test_b["x" > 1]', status: "failed" },
    { file: "tests/test_a.py", name: "test_c", status: "skipped" },
    { file: "tests/test_d.py", name: "tests.test_d", status: "failed" },
    { file: "tests/test_a.py", name: "test_e", status: "passed" },
  ]);
});
