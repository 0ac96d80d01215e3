export type * from "@torpor/contract";
export type { Sandbox as SandboxRecord } from "@torpor/contract";
export { type ErrorCode, TorporError } from "@torpor/contract/error";
export type { AccessClient } from "./access-client.ts";
export type { Content } from "./bytes.ts";
export type {
  DiffOptions,
  SandboxFilter,
  SandboxPage,
  Waiting,
  WaitingForEnd,
  WaitingForRoom,
  WaitingForRoomAndEnd,
} from "./call-options.ts";
export { TorporClient } from "./client.ts";
export { Command, type Output, type ReadOptions } from "./command.ts";
export type { CommandResult } from "./command-result.ts";
export type { ClientOptions } from "./endpoint.ts";
export {
  CommandNotStarted,
  Conflict,
  Forbidden,
  InvalidRequest,
  LimitExceeded,
  NotFound,
  ServerFault,
  TimedOut,
  Unauthorized,
  Unreachable,
  Unsupported,
  Unusable,
} from "./errors.ts";
export type { EventClient, EventFilter } from "./event-client.ts";
export type { AsUser, FileClient } from "./file-client.ts";
export type { ImageClient, OnProgress } from "./image-client.ts";
export type { Interpreter } from "./interpreter.ts";
export type { InterpreterClient } from "./interpreter-client.ts";
export type { LastingEvent, LastingOptions, LastingSession } from "./lasting-session.ts";
export type { ResumeAndWaitOptions } from "./lifecycle.ts";
export type { SandboxListing } from "./listing.ts";
export type { OperationClient } from "./operation-client.ts";
export type { PortClient } from "./port-client.ts";
export type { BackgroundOptions, CommandLine, ExecOptions } from "./run.ts";
export { type Child, type ForkOptions, Sandbox } from "./sandbox.ts";
export type { ReadFileOptions, SandboxFiles } from "./sandbox-files.ts";
export type { ServerFrame } from "./session-protocol.ts";
export type { SessionFrame, SessionStream } from "./session-stream.ts";
export type { SnapshotClient } from "./snapshot-client.ts";
export type { StatsClient } from "./stats-client.ts";
export { Supervised, type SuperviseOptions } from "./supervised.ts";
export type { SupervisedClient } from "./supervised-client.ts";
export type { TeamClient } from "./team-client.ts";
export { Terminal, type TerminalOptions } from "./terminal.ts";
export { type CreateOptions, Torpor } from "./torpor.ts";
export type { WaitForOptions } from "./wait-for.ts";
export type { WakeClient } from "./wake-client.ts";
export type { WebhookClient } from "./webhook-client.ts";
