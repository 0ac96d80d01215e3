import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseJunit } from "./junit.ts";
import type { TestResult } from "./result.ts";

const sdk = "sdks/python";

/** Runs the tests of the Python client on the oldest and on the newest Python; pytest's own output goes to the terminal. */
export async function runPython(args: readonly string[]): Promise<TestResult[]> {
  const pythons = ["oldest", "newest"].map((name) => resolve(".tools/python", name, "bin/python"));
  const results: TestResult[] = [];
  // A machine may have one Python only; the newest environment can do more.
  for (const python of new Map(pythons.map((path) => [realpathSync(path), path])).values()) results.push(...(await runOn(python, args)));
  return results;
}

async function runOn(python: string, args: readonly string[]): Promise<TestResult[]> {
  const version = spawnSync(python, ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"], { encoding: "utf8" }).stdout.trim();
  console.log(`Python ${version}`);
  const directory = mkdtempSync(join(tmpdir(), "torpor-test-"));
  const report = join(directory, "report.xml");
  const pytest = spawn(python, ["-m", "pytest", "-q", `--junitxml=${report}`, "-o", "junit_family=xunit1", ...args], {
    cwd: sdk,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", TORPOR_NODE: process.execPath },
  });
  const [status] = (await once(pytest, "exit")) as [number | null];
  const results = read(report).map(({ file, name, ...rest }) => ({ file: `${sdk}/${file}`, name: `${name} (Python ${version})`, ...rest }));
  rmSync(directory, { recursive: true });
  // 5: the arguments picked no test.
  const silent = status !== 0 && status !== 5 && !results.some((result) => result.status === "failed");
  return silent ? [...results, { file: sdk, name: `pytest on Python ${version} ended with ${status}`, status: "failed" }] : results;
}

function read(report: string): TestResult[] {
  try {
    return parseJunit(readFileSync(report, "utf8"));
  } catch {
    return []; // pytest ended before it could write: its exit code tells
  }
}
