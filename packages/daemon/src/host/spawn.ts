import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { TorporError } from "@torpor/contract";
import { packageOf } from "./tools.ts";

export interface RunOptions {
  readonly cwd?: string;
  /** Added to the daemon's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Written to stdin, which is then closed; without it stdin is /dev/null. */
  readonly input?: string;
  readonly timeLimitMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Each whole line of stdout and stderr as it comes, for progress. */
  readonly onLine?: ((line: string) => void) | undefined;
}

export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
}

/** A host command that ended badly. `ending` is the first cause; later ones are its consequences. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly command: string;
  readonly ending: "exit" | "signal" | "timeout" | "aborted";
  readonly exitCode: number | null;
  readonly stderr: string;
  constructor(command: string, ending: CommandError["ending"], exitCode: number | null, stderr: string) {
    super(`${command} ${describe(ending, exitCode)}${stderr === "" ? "" : `: ${lastLines(stderr)}`}`);
    this.command = command;
    this.ending = ending;
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

/** Of each stream this many characters are kept, the newest: enough for any answer that is parsed and for the words of a failure. */
const keptCharacters = 1024 * 1024;
const killGraceMs = 3_000;

/**
 * Runs a host program without a shell and resolves when it exited with 0. It leads its own process group, so that an abort or the
 * time limit ends its children too (mmdebstrap has many): TERM first, KILL after a grace.
 */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  if (options.signal?.aborted === true) {
    return Promise.reject(new CommandError(program, "aborted", null, ""));
  }
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...process.env, LC_ALL: "C.UTF-8", ...options.env },
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    detached: true,
  });
  const stdout = collect(child.stdout, options.onLine);
  const stderr = collect(child.stderr, options.onLine);
  child.stdin?.on("error", () => {}).end(options.input);

  return new Promise((resolve, reject) => {
    let forced: "timeout" | "aborted" | undefined;
    let killTimer: NodeJS.Timeout | undefined;
    const end = (cause: "timeout" | "aborted") => {
      forced ??= cause;
      killGroup(child.pid, "SIGTERM");
      killTimer ??= setTimeout(() => killGroup(child.pid, "SIGKILL"), killGraceMs);
    };
    const onAbort = () => end("aborted");
    const limit = options.timeLimitMs === undefined ? undefined : setTimeout(() => end("timeout"), options.timeLimitMs);
    options.signal?.addEventListener("abort", onAbort, { once: true });
    const settle = () => {
      clearTimeout(limit);
      clearTimeout(killTimer);
      options.signal?.removeEventListener("abort", onAbort);
    };

    child.once("error", (cause) => {
      settle();
      reject(startFailure(program, cause));
    });
    child.once("close", (exitCode, signal) => {
      settle();
      if (exitCode === 0 && forced === undefined) {
        resolve({ stdout: stdout(), stderr: stderr() });
      } else {
        reject(new CommandError(program, forced ?? (signal === null ? "exit" : "signal"), exitCode, stderr()));
      }
    });
  });
}

function collect(stream: Readable | null, onLine: ((line: string) => void) | undefined): () => string {
  let kept = "";
  let open = "";
  stream?.setEncoding("utf8").on("data", (text: string) => {
    kept = (kept + text).slice(-keptCharacters);
    if (onLine === undefined) {
      return;
    }
    const lines = (open + text).split(/[\r\n]+/);
    open = lines.pop()?.slice(-keptCharacters) ?? "";
    for (const line of lines) {
      if (line !== "") {
        onLine(line);
      }
    }
  });
  return () => kept;
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) {
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}

function startFailure(program: string, cause: Error): Error {
  if ((cause as NodeJS.ErrnoException).code !== "ENOENT") {
    return new TorporError("internal", `${program} could not be started: ${cause.message}`, { cause });
  }
  return new TorporError("storage_failed", `The program ${program} is not on this host.`, {
    hint: `Install the package ${packageOf(program)} (apt-get install ${packageOf(program)}) and try again.`,
    details: { program },
    cause,
  });
}

function describe(ending: CommandError["ending"], exitCode: number | null): string {
  switch (ending) {
    case "exit":
      return `failed with exit code ${exitCode}`;
    case "signal":
      return "was killed by a signal";
    case "timeout":
      return "took longer than its time limit";
    case "aborted":
      return "was cancelled";
  }
}

/** What a program says last is nearly always why it failed. */
function lastLines(text: string): string {
  return text.trim().split("\n").slice(-5).join("\n").slice(-2_000);
}
