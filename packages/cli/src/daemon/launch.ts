import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { mkdir, readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Readable } from "node:stream";
import { TorporError } from "@torpor/sdk/calls";
import { oneLine } from "../failure.ts";
import type { Site } from "./site.ts";

/**
 * A daemon waits most of its time, and should hold little meanwhile. What is new on V8's heap gets 15 MB, not the 67 that a large host would give it; large
 * buffers go back to the host when they are freed, which glibc stops doing once it has seen a few; and what its threads free is one heap's, not eight threads'
 * own, which saves 20 MB. All are taken at the start of the process only.
 */
export const daemonFlags: readonly string[] = ["--max-semi-space-size=4"];
export const daemonEnvironment = { MALLOC_MMAP_THRESHOLD_: String(128 * 1024), MALLOC_ARENA_MAX: "1" } as const;

/** Starts torpord as a process of its own, and waits until it answers; gives its pid. */
export async function launchDaemon(site: Site, options: readonly string[]): Promise<number> {
  await mkdir(site.data, { recursive: true, mode: 0o711 });
  const logStart = await sizeOf(site.log);
  const log = openSync(site.log, "a", 0o600);
  const child = spawn(process.execPath, [...daemonCommand(site, options), "--ready-fd", "3"], {
    cwd: "/",
    detached: true,
    env: { ...process.env, ...daemonEnvironment },
    stdio: ["ignore", log, log, "pipe"],
  });
  const ready = child.stdio[3] as Readable;
  // Whichever comes first: its word, or the end of the pipe with its end.
  const [word] = await Promise.race([
    once(ready, "data"),
    once(child, "exit"),
    once(child, "error").then(([error]) => Promise.reject(error as Error)),
  ]);
  if (!(word instanceof Uint8Array)) throw await lastWords(site.log, logStart);
  ready.destroy();
  child.unref();
  return child.pid as number;
}

/** Runs torpord in this terminal until it ends; gives its exit code. */
export async function runDaemon(site: Site, options: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, daemonCommand(site, options), {
    stdio: "inherit",
    env: { ...process.env, ...daemonEnvironment },
  });
  // A terminal sends its signals to the whole group; those from elsewhere are handed on.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

function daemonCommand({ data, socket }: Site, options: readonly string[]): string[] {
  return [...daemonFlags, daemonMain(), "--data", data, "--socket", socket, ...options];
}

function daemonMain(): string {
  try {
    return createRequire(import.meta.url).resolve("@torpor/daemon/main");
  } catch {
    throw new TorporError("engine_unavailable", "torpord is not installed beside this command", {
      hint: "Install @torpor/daemon where @torpor/cli is (npm install -g @torpor/daemon), or name its host with TORPOR_URL.",
    });
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => ({ size: 0 }))).size;
}

/** Its own error and hint, which it writes as its last lines. */
async function lastWords(log: string, start: number): Promise<TorporError> {
  const lines = (await readFile(log)).subarray(start).toString().trim().split("\n");
  const at = lines.findLastIndex((line) => line.startsWith("torpord: "));
  const message = at < 0 ? (lines.at(-1) ?? "it ended") : (lines[at] as string).slice("torpord: ".length);
  const hint = lines.slice(at + 1).find((line) => line.startsWith("hint: "));
  return new TorporError("engine_unavailable", `torpord did not start: ${oneLine(message)}`, {
    hint: hint === undefined ? `${log} has more.` : oneLine(hint.slice("hint: ".length)),
  });
}
