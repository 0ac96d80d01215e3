import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileItself } from "./again.ts";
import type { TestResult } from "./result.ts";

type Report = {
  testResults: {
    name: string;
    status: "passed" | "failed";
    assertionResults: { fullName: string; status: "passed" | "failed" | "skipped" | "pending" | "todo" }[];
  }[];
};

/** Runs one vitest project; its own output goes to the terminal. */
export async function runVitest(project: string, args: readonly string[]): Promise<TestResult[]> {
  const directory = mkdtempSync(join(tmpdir(), "torpor-test-"));
  const report = join(directory, "report.json");
  const command = ["node_modules/vitest/vitest.mjs", "run", "--project", project, "--passWithNoTests"];
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const child = spawn(process.execPath, [...command, ...reporters, ...args], { stdio: ["ignore", "inherit", "inherit"] });
  const [status] = (await once(child, "close")) as [number | null];
  const results = read(report);
  rmSync(directory, { recursive: true });
  // An error outside of any test (a global setup, an unhandled rejection) shows only in the exit code.
  const silent = status !== 0 && !results.some((result) => result.status === "failed");
  return silent ? [...results, { file: project, name: `vitest ended with ${status}`, status: "failed" }] : results;
}

function read(report: string): TestResult[] {
  let parsed: Report;
  try {
    parsed = JSON.parse(readFileSync(report, "utf8")) as Report;
  } catch {
    return []; // vitest ended before it could write: its exit code tells
  }
  return parsed.testResults.flatMap(({ name, status, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const tests: TestResult[] = assertionResults.map((test) => ({
      file,
      name: test.fullName,
      status: test.status === "passed" || test.status === "failed" ? test.status : "skipped",
    }));
    // A file that cannot be loaded, or whose hook fails, has no failed test to show for it.
    const broken = status === "failed" && !tests.some((test) => test.status === "failed");
    return broken ? [...tests, { file, name: fileItself, status: "failed" as const }] : tests;
  });
}
