import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const main = fileURLToPath(new URL("../../packages/cli/src/main.ts", import.meta.url));

/** A directory to type in as a reader does, with the checkout's `torpor` in the PATH; gone when the test ends. */
export function readersShell(env: Readonly<Record<string, string>>): { readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  const cwd = mkdtempSync(path.join(tmpdir(), "torpor-reader-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const bin = path.join(cwd, ".bin");
  mkdirSync(bin);
  writeFileSync(path.join(bin, "torpor"), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, { mode: 0o755 });
  return {
    cwd,
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, XDG_CONFIG_HOME: path.join(cwd, ".config"), NO_COLOR: "1", ...env },
  };
}
