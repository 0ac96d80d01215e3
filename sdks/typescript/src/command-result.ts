import type { SessionEnd } from "@torpor/contract";
import { joined } from "./bytes.ts";
import { createError } from "./errors.ts";

/** How a command ended. Any exit code is a result; only what did not end by itself is thrown. */
export interface CommandResult {
  /** As a shell has it: 128 + n for a death by signal n, 124 for the time limit. */
  readonly exitCode: number;
  /** SIGKILL, …; null when it exited. */
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** It, or what it waited for, was killed since the sandbox's memory was used up. The sandbox goes on. */
  readonly oom: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: Uint8Array;
  readonly stderrBytes: Uint8Array;
  /** Of a very long output the oldest part was dropped. */
  readonly truncated: boolean;
  readonly sessionId: string;
}

/** The end of an output, at most so many bytes. */
export class Tail {
  readonly #limit: number;
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  truncated = false;

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes > this.#limit) {
      const first = this.#chunks[0] as Uint8Array;
      const over = Math.min(first.length, this.#bytes - this.#limit);
      if (over === first.length) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(over);
      this.#bytes -= over;
      this.truncated = true;
    }
  }

  bytes(): Uint8Array {
    return joined(this.#chunks);
  }
}

/** The result; throws for a command that ended with its runtime. */
export function resultOf(
  end: SessionEnd,
  of: { sandbox: string; sessionId: string; stdout: Tail; stderr: Tail; gap: boolean },
): CommandResult {
  const stdoutBytes = of.stdout.bytes();
  const stderrBytes = of.stderr.bytes();
  const decoder = new TextDecoder();
  return {
    exitCode: exitCodeOf(end, of),
    signal: end.signal,
    timedOut: end.reason === "timeout",
    oom: end.oom,
    stdout: decoder.decode(stdoutBytes),
    stderr: decoder.decode(stderrBytes),
    stdoutBytes,
    stderrBytes,
    truncated: of.gap || of.stdout.truncated || of.stderr.truncated,
    sessionId: of.sessionId,
  };
}

function exitCodeOf({ reason, exitCode, signal }: SessionEnd, { sandbox, sessionId }: { sandbox: string; sessionId: string }): number {
  switch (reason) {
    case "exited":
    case "killed":
      return exitCode ?? 1;
    case "timeout":
      return 124;
    case "oom":
      return exitCode ?? 137;
    case "paused":
      throw createError("session_paused", `sandbox ${sandbox} was paused: resume it; the command continues then`);
    case "stopped":
      throw createError(
        "sandbox_not_running",
        `the command ended with sandbox ${sandbox}, which was stopped, removed, or paused with its files only`,
        {
          details: { sessionId, exitCode, signal },
        },
      );
    case "lost":
      throw createError("sandbox_not_running", `the runtime of sandbox ${sandbox} ended, and the command with it`, {
        hint: "The sandbox's record tells why.",
        details: { sessionId, exitCode, signal },
      });
  }
}
