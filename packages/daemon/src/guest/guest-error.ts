import { Code, ConnectError } from "@connectrpc/connect";
import { type ErrorCode, TorporError } from "@torpor/contract";
import { SessionErrorSchema } from "./protocol/torpor/guest/v1/guest_pb.ts";

export type CloseReason = "paused" | "stopped" | "lost";

/** Why the line was closed: the first reason stays. */
export interface LineState {
  closed: CloseReason | undefined;
}

/** What the call was about, where the guest's code alone does not say. */
export type Subject = "session" | "file" | "archive" | "guest";

const closings: Record<CloseReason, { code: ErrorCode; message: string }> = {
  paused: { code: "session_paused", message: "the sandbox was paused; what ran in it goes on when it is resumed" },
  stopped: { code: "sandbox_not_running", message: "the sandbox was stopped" },
  lost: { code: "sandbox_not_running", message: "the line to the sandbox broke" },
};

/** Before a call: the library would open a new connection for it. */
export function refuseIfClosed(line: LineState): void {
  if (line.closed !== undefined) {
    throw closingError(line.closed);
  }
}

export function fromGuestError(error: unknown, line: LineState, subject: Subject = "guest"): unknown {
  if (error instanceof TorporError) {
    return error;
  }
  const failure = ConnectError.from(error);
  if (line.closed !== undefined && failure.code !== Code.NotFound) {
    return closingError(line.closed, error);
  }
  const message = failure.rawMessage;
  const [notStarted] = failure.findDetails(SessionErrorSchema);
  if (notStarted !== undefined) {
    return new TorporError("command_not_started", message, { details: { exitCode: notStarted.exitCode } });
  }
  return new TorporError(codeOf(failure, subject), message, { cause: error });
}

function closingError(reason: CloseReason, cause?: unknown): TorporError {
  const { code, message } = closings[reason];
  // As data: a stream tells its client by the reason how it ended.
  return new TorporError(code, message, { cause, details: { reason } });
}

function codeOf(failure: ConnectError, subject: Subject): ErrorCode {
  switch (failure.code) {
    case Code.NotFound:
      return subject === "session" ? "session_not_found" : "file_not_found";
    case Code.PermissionDenied:
      return "permission_denied";
    case Code.AlreadyExists:
      return subject === "session" ? "idempotency_conflict" : "file_exists";
    case Code.InvalidArgument:
      return subject === "file" ? "invalid_path" : subject === "archive" ? "invalid_archive" : "invalid_request";
    case Code.OutOfRange:
      return "journal_gone";
    case Code.ResourceExhausted:
      return subject === "session" ? "too_many_sessions" : "disk_full";
    case Code.FailedPrecondition:
      if (failure.rawMessage === "freezing") {
        return "operation_active";
      }
      return subject === "session" ? "session_ended" : subject === "guest" ? "internal" : "directory_not_empty";
    case Code.DeadlineExceeded:
    case Code.Canceled:
      return "timeout";
    default:
      return "internal";
  }
}
