import type { TestResult } from "./result.ts";

/** More files than these do not fail by chance. */
export const mostAgain = 3;

/** Stands for a file that can't be loaded, or a hook of which fails. */
export const fileItself = "(the file itself)";

export interface Judged {
  readonly results: TestResult[];
  /** Those that failed beside the others and passed alone. */
  readonly wavering: TestResult[];
}

/**
 * Runs the files again in which a test failed, if they are few: what fails then too, or is not run, has failed.
 * A decision: docs/decisions/0212-failed-tests-run-again-alone.md.
 */
export async function judge(results: readonly TestResult[], runAlone: (files: string[]) => Promise<TestResult[]>): Promise<Judged> {
  const files = [...new Set(failures(results).map(({ file }) => file))];
  if (files.length === 0 || files.length > mostAgain) return { results: [...results], wavering: [] };
  const alone = await runAlone(files);
  const of = (file: string, from: readonly TestResult[]) => from.filter((test) => test.file === file);
  const cleared = files.filter((file) => isCleared(failures(of(file, results)), of(file, alone)));
  return {
    results: [
      ...results.filter(({ file }) => !cleared.includes(file)),
      ...alone.filter(({ file, status }) => cleared.includes(file) || status === "failed").filter((test) => !failedBefore(results, test)),
    ],
    wavering: failures(results).filter(({ file }) => cleared.includes(file)),
  };
}

function isCleared(failed: readonly TestResult[], alone: readonly TestResult[]): boolean {
  const passed = new Set(alone.filter(({ status }) => status === "passed").map(({ name }) => name));
  return passed.size > 0 && failures(alone).length === 0 && failed.every(({ name }) => name === fileItself || passed.has(name));
}

function failures(results: readonly TestResult[]): TestResult[] {
  return results.filter(({ status }) => status === "failed");
}

function failedBefore(results: readonly TestResult[], { file, name, status }: TestResult): boolean {
  return status === "failed" && failures(results).some((other) => other.file === file && other.name === name);
}
