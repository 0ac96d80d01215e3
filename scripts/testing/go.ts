import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { TestResult } from "./result.ts";

type Event = { Action: string; Package?: string; ImportPath?: string; Test?: string; Output?: string; Elapsed?: number };

const modulePrefix = "torpor.dev/torpor/";

/** Runs the Go tests, prints a line a package and the output of what failed, and `go vet` first: it finds what no test does. */
export async function runGo(packages: readonly string[]): Promise<TestResult[]> {
  const results = new GoResults();
  const arch = process.arch === "arm64" ? "arm64" : "amd64";
  for (const goarch of arch === "amd64" ? ["amd64", "arm64"] : [arch]) {
    const code = await run(["vet", "./..."], { GOARCH: goarch }, (line) => console.log(line));
    if (code !== 0) results.add({ file: "native", name: `go vet (${goarch})`, status: "failed" });
  }
  const code = await run(["test", "-json", "-timeout=8m", ...(packages.length > 0 ? packages : ["./..."])], {}, (line) =>
    results.event(line),
  );
  if (code !== 0 && !results.all.some((result) => result.status === "failed")) {
    results.add({ file: "native", name: `go test ended with ${code}`, status: "failed" });
  }
  return results.all.filter((result) => !isGroup(result, results.all));
}

/** A test that only holds others would count twice, unless it failed by itself. */
function isGroup(result: TestResult, all: readonly TestResult[]): boolean {
  const inside = all.filter((other) => other.file === result.file && other.name.startsWith(`${result.name}/`));
  return inside.length > 0 && (result.status !== "failed" || inside.some((other) => other.status === "failed"));
}

class GoResults {
  readonly all: TestResult[] = [];
  readonly #output = new Map<string, string[]>();

  add(result: TestResult): void {
    this.all.push(result);
  }

  event(line: string): void {
    if (!line.startsWith("{")) {
      console.log(line);
      return;
    }
    const event = JSON.parse(line) as Event;
    const name = event.Package ?? event.ImportPath ?? "";
    const key = `${name} ${event.Test ?? ""}`;
    if (event.Output !== undefined) this.#output.set(key, [...(this.#output.get(key) ?? []), event.Output]);
    if (!["pass", "fail", "skip", "build-fail"].includes(event.Action)) return;
    this.#end(event, name.replace(modulePrefix, ""), this.#output.get(key)?.join("") ?? "");
    this.#output.delete(key);
  }

  #end(event: Event, file: string, output: string): void {
    const status = event.Action === "pass" ? "passed" : event.Action === "skip" ? "skipped" : "failed";
    if (event.Test !== undefined) {
      this.add({ file, name: event.Test, status });
      if (status === "failed") process.stdout.write(output);
      return;
    }
    if (event.Action === "build-fail") process.stdout.write(output);
    if (status === "skipped") return; // a package without tests
    console.log(`${status === "passed" ? "ok  " : "FAIL"} ${file} ${event.Elapsed ?? 0} s`);
    // A package that fails to build or panics has perhaps no failed test to show for it.
    const shown = this.all.some((result) => result.file === file && result.status === "failed");
    if (event.Action === "fail" && !shown) {
      process.stdout.write(output);
      this.add({ file, name: "(the package itself)", status });
    }
  }
}

function run(args: readonly string[], env: Record<string, string>, onLine: (line: string) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn("go", args, { cwd: "native", env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout });
    lines.on("line", onLine);
    child.on("error", reject);
    // Both: the process may be gone before its last line is read.
    Promise.all([
      new Promise<number>((done) => child.on("exit", (code) => done(code ?? 1))),
      new Promise<void>((done) => lines.on("close", done)),
    ]).then(([code]) => resolve(code), reject);
  });
}
