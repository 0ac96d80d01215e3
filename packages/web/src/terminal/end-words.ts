import type { SessionEnd } from "@torpor/contract";

/** Why a terminal takes nothing any more. */
export function endSentence({ reason, exitCode, signal, oom }: SessionEnd): string {
  if (oom) return "Its process outgrew the sandbox's memory and was killed; the sandbox goes on.";
  if (reason === "stopped") return "It ended with the sandbox, which was stopped, or paused with its files only.";
  if (reason === "lost") return "The sandbox's runtime ended, and its processes with it.";
  if (reason === "timeout") return "Its time limit was over.";
  return signal === null ? `Its process exited with code ${exitCode ?? "?"}.` : `Its process was ended by ${signal}.`;
}

/** How one of several processes of a session ended, for a line between what two of them put out. */
export function endWords({ reason, exitCode, signal, oom }: SessionEnd): string {
  if (oom) return "it outgrew the memory";
  if (reason === "stopped") return "with the sandbox";
  return signal === null ? `code ${exitCode ?? "?"}` : signal;
}
