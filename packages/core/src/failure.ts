import { TorporError } from "@torpor/contract";

/** What clients are told of any error. An unforeseen one keeps its text for the log only, as it may name things of the host. */
export function toTorporError(error: unknown): TorporError {
  if (error instanceof TorporError) return error;
  return new TorporError("internal", "a fault in Torpor: the daemon's log has the details", { cause: error });
}

export function describeError(error: unknown): string {
  if (error instanceof TorporError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
