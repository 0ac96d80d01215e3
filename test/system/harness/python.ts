import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export interface PythonRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A Python program with the client of this checkout, on the newest Python that it is for; every warning is an error. */
export async function runPython(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<PythonRun> {
  const child = spawn(`${root}.tools/python/newest/bin/python`, ["-W", "error", ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PYTHONPATH: `${root}sdks/python/src`, PYTHONDONTWRITEBYTECODE: "1", ...env },
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

/** Of a program that prints a line of JSON for each thing it did. */
export async function pythonLines<T>(...[program, args]: [program: string, args: readonly string[]]): Promise<T[]> {
  const { code, stdout, stderr } = await runPython([program, ...args]);
  if (code !== 0 || stderr !== "") throw new Error(`${program} ended with ${code}: ${stderr}`);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}
