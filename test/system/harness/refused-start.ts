import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { leftovers, readHostState } from "./host-state.ts";

const main = fileURLToPath(new URL("../../../packages/daemon/src/main.ts", import.meta.url));
const nobody = 65_534;

export interface Refusal {
  readonly code: number | null;
  readonly stderr: string;
  /** What it made on the host all the same. */
  readonly left: readonly string[];
}

/** Starts a torpord that should refuse to start, on a data directory of its own unless one is given. */
export async function refusedStart(
  options: { readonly data?: string; readonly env?: Readonly<Record<string, string>>; readonly asNobody?: boolean } = {},
): Promise<Refusal> {
  const data = options.data ?? mkdtempSync(path.join(tmpdir(), "torpor-refused-"));
  const command = [process.execPath, main, "--data", data];
  if (options.asNobody === true) {
    chownSync(data, nobody, nobody);
    // It may read everything, wherever this checkout lies, and nothing more.
    command.unshift(
      "setpriv",
      `--reuid=${nobody}`,
      `--regid=${nobody}`,
      "--clear-groups",
      "--inh-caps=+dac_read_search",
      "--ambient-caps=+dac_read_search",
    );
  }
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...options.env },
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
  const words: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => words.push(chunk));
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return { code, stderr: Buffer.concat(words).toString(), left: options.data === undefined ? leftovers(readHostState([data])) : [] };
  } finally {
    if (options.data === undefined) {
      rmSync(data, { recursive: true, force: true });
    }
  }
}
