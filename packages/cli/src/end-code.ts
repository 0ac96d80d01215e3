import type { SessionEnd } from "@torpor/sdk/calls";
import { oneLine, say } from "./failure.ts";

/** The exit code for how a session ended; what the code can't say is told on stderr. */
export function endCode(end: SessionEnd, sandbox: string, command: string): number {
  switch (end.reason) {
    case "exited":
    case "killed":
      return end.exitCode ?? 1;
    case "timeout":
      say(`torpor: ${oneLine(command)} ran into its time limit and was ended`);
      return 124;
    case "oom":
      say(`torpor: ${oneLine(command)} was killed: out of memory (oom)`);
      say(`hint: sandbox ${sandbox} goes on; a new one with a larger --memory has more`);
      return end.exitCode ?? 137;
    case "paused":
      say(`torpor: sandbox ${sandbox} was paused: resume it with torpor resume ${sandbox}; the command continues then`);
      return 1;
    case "stopped":
      say(`torpor: ${oneLine(command)} ended with sandbox ${sandbox}, which was stopped, removed, or paused with its files only`);
      return 1;
    case "lost":
      say(`torpor: the runtime of sandbox ${sandbox} ended, and the command with it: torpor inspect ${sandbox} tells why`);
      return 1;
  }
}
