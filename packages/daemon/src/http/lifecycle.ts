import type {
  CreateSandboxRequest,
  Event,
  ForkRequest,
  Info,
  Operation,
  OperationAnswer,
  PauseRequest,
  ResumeRequest,
  Sandbox,
  StopRequest,
} from "@torpor/contract";
import type { Guest, Ids, Images } from "@torpor/core";

/** How long to wait for an operation's end; it goes on afterwards. */
export interface Waiting {
  readonly waitMs: number;
}

/** What HTTP asks of the lifecycle: operations, and reads. Refusals are `TorporError`s; failures are in the operation. */
export interface Lifecycle {
  create(request: CreateSandboxRequest, waiting: Waiting): Promise<OperationAnswer>;
  pause(idOrName: string, request: PauseRequest, waiting: Waiting): Promise<OperationAnswer>;
  resume(idOrName: string, request: ResumeRequest, waiting: Waiting): Promise<OperationAnswer>;
  fork(idOrName: string, request: ForkRequest, waiting: Waiting): Promise<OperationAnswer>;
  stop(idOrName: string, request: StopRequest, waiting: Waiting): Promise<OperationAnswer>;
  start(idOrName: string, request: Record<never, never>, waiting: Waiting): Promise<OperationAnswer>;
  remove(idOrName: string, request: { readonly force?: boolean }, waiting: Waiting): Promise<OperationAnswer>;
  get(idOrName: string): Promise<Sandbox>;
  list(): Promise<Sandbox[]>;
  operation(id: string): Promise<Operation>;
  operations(idOrName: string): Promise<Operation[]>;
  events(idOrName: string, range: { readonly after?: number; readonly limit?: number }): Promise<Event[]>;
  /** The line to the guest of a running sandbox. */
  guest(idOrName: string): Promise<Guest>;
  logs(idOrName: string, limitBytes: number): Promise<string>;
}

/** Everything that HTTP is given. */
export interface Served {
  readonly lifecycle: Lifecycle;
  readonly images: Images;
  readonly ids: Ids;
  info(): Promise<Info>;
}
