import { TorporError } from "@torpor/contract/error";

/** What went wrong and what to do about it, in a line. */
export function sentence(error: Error): string {
  return error instanceof TorporError && error.hint !== undefined ? `${error.message} — ${error.hint}` : error.message;
}
