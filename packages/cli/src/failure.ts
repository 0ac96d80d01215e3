import { TorporError } from "@torpor/sdk/calls";

/** Tells of a failure on stderr, in a line and a hint, and gives the exit code for it. */
export function failWith(error: unknown): number {
  const { message, hint } = error instanceof TorporError ? error : { message: unexpected(error), hint: undefined };
  say(`torpor: ${oneLine(message)}`);
  if (hint !== undefined) say(`hint: ${oneLine(hint)}`);
  return 1;
}

/** A line on stderr: notices, progress, failures. stdout is for data only. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** What comes from a daemon may quote what comes from a sandbox: no control characters reach the terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
}

function unexpected(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
