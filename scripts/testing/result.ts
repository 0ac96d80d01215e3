/** How one test ended. `name` has the names of the groups around it, so that a case id in a group counts for all its tests. */
export type TestResult = { file: string; name: string; status: "passed" | "failed" | "skipped" };

export type Totals = { passed: number; failed: number };

export function totals(results: readonly TestResult[]): Totals {
  const count = (status: TestResult["status"]) => results.filter((result) => result.status === status).length;
  return { passed: count("passed"), failed: count("failed") };
}

/** The line by which continuous integration counts the tests; nothing may be added to it. */
export function closingLine({ passed, failed }: Totals): string {
  return `${passed} passed, ${failed} failed`;
}
