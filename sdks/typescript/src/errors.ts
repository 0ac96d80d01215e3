import { type ErrorCode, errorCatalogue, TorporError } from "@torpor/contract/error";

/** There is no such sandbox, snapshot, file, …: `code` says of what kind. */
export class NotFound extends TorporError {
  override readonly name: string = "NotFound";
}
/** What is there, or its state, stands against it: a paused sandbox, a name that is taken. */
export class Conflict extends TorporError {
  override readonly name: string = "Conflict";
}
/** The request has a wrong or missing field. */
export class InvalidRequest extends TorporError {
  override readonly name: string = "InvalidRequest";
}
/** No valid token came with the call. */
export class Unauthorized extends TorporError {
  override readonly name: string = "Unauthorized";
}
/** Not allowed: to this token, to the processes of a sandbox, or to the user of a file. */
export class Forbidden extends TorporError {
  override readonly name: string = "Forbidden";
}
/** The command could not be started; `details.exitCode` is 126 or 127, as a shell has it. */
export class CommandNotStarted extends TorporError {
  override readonly name: string = "CommandNotStarted";
}
/** The engine cannot do this. */
export class Unsupported extends TorporError {
  override readonly name: string = "Unsupported";
}
/** What it needs can't be used: a damaged checkpoint or image. */
export class Unusable extends TorporError {
  override readonly name: string = "Unusable";
}
/** The node is full, or there are as many as there may be. */
export class LimitExceeded extends TorporError {
  override readonly name: string = "LimitExceeded";
}
/** It took longer than its time limit; an operation goes on. */
export class TimedOut extends TorporError {
  override readonly name: string = "TimedOut";
}
/** Nothing answers where torpord should. */
export class Unreachable extends TorporError {
  override readonly name: string = "Unreachable";
}
/** A fault of the daemon, its engine, its storage or a registry. */
export class ServerFault extends TorporError {
  override readonly name: string = "ServerFault";
}

type ErrorClass = new (...given: ConstructorParameters<typeof TorporError>) => TorporError;

const byCode: Partial<Record<ErrorCode, ErrorClass>> = {
  command_not_started: CommandNotStarted,
  capability_unsupported: Unsupported,
  daemon_unreachable: Unreachable,
};

const byStatus: Readonly<Record<number, ErrorClass>> = {
  400: InvalidRequest,
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  410: Conflict,
  413: InvalidRequest,
  422: Unusable,
  429: LimitExceeded,
  504: TimedOut,
};

/** The error of its class. */
export function createError(...[code, message, options]: ConstructorParameters<typeof TorporError>): TorporError {
  const Kind = byCode[code] ?? byStatus[errorCatalogue[code].status] ?? ServerFault;
  return new Kind(code, message, options);
}
