import { TorporError } from "@torpor/contract";

/** A failed launch, with what the engine and the guest wrote about it. */
export function withLog(error: unknown, log: string): unknown {
  if (!(error instanceof TorporError) || log.trim() === "") {
    return error;
  }
  return new TorporError(error.code, error.message, {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    details: { ...error.details, log },
    cause: error,
  });
}
