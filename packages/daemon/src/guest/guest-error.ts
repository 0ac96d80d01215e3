import { Code, ConnectError } from "@connectrpc/connect";
import { type ErrorCode, TorporError } from "@torpor/contract";
import { SessionErrorSchema } from "./protocol/torpor/guest/v1/guest_pb.ts";

export type CloseReason = "paused" | "stopped" | "lost";

/** Why the line was closed: the first reason stays. */
export interface LineState {
  closed: CloseReason | undefined;
  /** What the guest at its other end speaks; undefined before its first answer. */
  protocol?: number;
  /** Nothing would answer now. */
  held: boolean;
}

/** What the call was about, where the guest's code alone does not say. */
export type Subject = "session" | "file" | "archive" | "port" | "guest";

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
  if (line.held) {
    throw heldError();
  }
}

/** Its disk lies on a pool without room: it can't go on, so nothing in it answers. */
export function heldError(): TorporError {
  return new TorporError("disk_full", "the pool is full: the sandbox is held until there is room, and answers no calls", {
    hint: "Remove sandboxes, snapshots or images that are no longer needed (torpor image prune), or enlarge the pool; it goes on by itself.",
    details: { held: true },
  });
}

export function fromGuestError(error: unknown, line: LineState, subject: Subject = "guest"): unknown {
  if (error instanceof TorporError) {
    return error;
  }
  const failure = ConnectError.from(error);
  if (line.closed !== undefined && failure.code !== Code.NotFound) {
    return closingError(line.closed, error);
  }
  if (isUnreachable(error)) {
    return closingError("lost", error);
  }
  const message = failure.rawMessage;
  const [notStarted] = failure.findDetails(SessionErrorSchema);
  if (notStarted !== undefined) {
    return new TorporError("command_not_started", message, { details: { exitCode: notStarted.exitCode } });
  }
  return new TorporError(codeOf(failure, subject), message, { cause: error });
}

/** Nobody answers at the shim's socket: the runtime has just ended. */
function isUnreachable(error: unknown): boolean {
  const cause = error instanceof ConnectError ? error.cause : error;
  return (cause as NodeJS.ErrnoException | undefined)?.syscall === "connect";
}

function closingError(reason: CloseReason, cause?: unknown): TorporError {
  const { code, message } = closings[reason];
  // As data: a stream tells its client by the reason how it ended.
  return new TorporError(code, message, { cause, details: { reason } });
}

type CodeBySubject = Partial<Record<Subject, ErrorCode>> & { readonly other: ErrorCode };

const codes: Partial<Record<Code, CodeBySubject>> = {
  [Code.NotFound]: { session: "session_not_found", other: "file_not_found" },
  [Code.PermissionDenied]: { other: "permission_denied" },
  [Code.AlreadyExists]: { session: "idempotency_conflict", other: "file_exists" },
  [Code.InvalidArgument]: { file: "invalid_path", archive: "invalid_archive", other: "invalid_request" },
  [Code.OutOfRange]: { other: "session_output_gone" },
  [Code.ResourceExhausted]: { session: "too_many_sessions", other: "disk_full" },
  [Code.FailedPrecondition]: { session: "session_ended", guest: "internal", other: "directory_not_empty" },
  [Code.DeadlineExceeded]: { other: "timeout" },
  [Code.Canceled]: { other: "timeout" },
  // Nothing listens; the program broke off.
  [Code.Unavailable]: { port: "port_closed", other: "internal" },
  [Code.Aborted]: { port: "port_closed", other: "internal" },
  // The guest of a checkpoint that an earlier version made.
  [Code.Unimplemented]: { other: "capability_unsupported" },
};

function codeOf(failure: ConnectError, subject: Subject): ErrorCode {
  if (failure.code === Code.FailedPrecondition && failure.rawMessage === "freezing") {
    return "operation_active";
  }
  const bySubject = codes[failure.code];
  return bySubject === undefined ? "internal" : (bySubject[subject] ?? bySubject.other);
}
