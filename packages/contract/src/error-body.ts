import { z } from "zod";
import { type ErrorCode, errorCodes, TorporError } from "./error.ts";

/** The body of every answer that is not a success, and the `error` of a failed operation. */
export const ErrorBody = z.object({
  error: z.object({
    code: z.enum(errorCodes as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    hint: z.string().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

export function toErrorBody(error: TorporError): ErrorBody {
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      ...(Object.keys(error.details).length === 0 ? {} : { details: { ...error.details } }),
    },
  };
}

export function fromErrorBody(body: ErrorBody): TorporError {
  const { code, message, hint, details } = body.error;
  return new TorporError(code, message, { ...(hint === undefined ? {} : { hint }), ...(details === undefined ? {} : { details }) });
}
