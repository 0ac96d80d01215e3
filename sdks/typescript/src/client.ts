import type {
  Capabilities,
  CreateSandboxRequest,
  Event,
  ExecRequest,
  ExecResult,
  ForkRequest,
  Info,
  Operation,
  OperationAnswer,
  PauseRequest,
  ResumeRequest,
  Sandbox,
  Session,
  StartSessionRequest,
  StopRequest,
} from "@torpor/contract";
import { addressOf } from "./calls.ts";
import { type ClientOptions, endpointOf } from "./endpoint.ts";
import { FileClient } from "./file-client.ts";
import { ImageClient } from "./image-client.ts";
import { SessionStream } from "./session-stream.ts";
import { Transport, textOf } from "./transport.ts";

export interface Waiting {
  /** How long the daemon waits for the operation before it answers, in ms. Default 600 000; it goes on afterwards. */
  readonly waitMs?: number;
}

/** The calls of one daemon. `id` is a sandbox's id or name; failures are `TorporError`s. */
export class TorporClient {
  readonly #transport: Transport;
  readonly files: FileClient;
  readonly images: ImageClient;

  constructor(options: ClientOptions = {}) {
    this.#transport = new Transport(endpointOf(options, process.env));
    this.files = new FileClient(this.#transport);
    this.images = new ImageClient(this.#transport);
  }

  /** Gives idle connections back. */
  close(): void {
    this.#transport.close();
  }

  create(body: CreateSandboxRequest, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#transport.json("createSandbox", { body, query: wait(waiting) });
  }

  async list(): Promise<Sandbox[]> {
    return (await this.#transport.json<{ sandboxes: Sandbox[] }>("listSandboxes")).sandboxes;
  }

  get(id: string): Promise<Sandbox> {
    return this.#transport.json("getSandbox", { params: { id } });
  }

  pause(id: string, body: PauseRequest = {}, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#transport.json("pauseSandbox", { params: { id }, body, query: wait(waiting) });
  }

  resume(id: string, body: ResumeRequest = {}, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#transport.json("resumeSandbox", { params: { id }, body, query: wait(waiting) });
  }

  fork(id: string, body: ForkRequest = {}, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#transport.json("forkSandbox", { params: { id }, body, query: wait(waiting) });
  }

  stop(id: string, body: StopRequest = {}, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#transport.json("stopSandbox", { params: { id }, body, query: wait(waiting) });
  }

  start(id: string, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#transport.json("startSandbox", { params: { id }, body: {}, query: wait(waiting) });
  }

  remove(id: string, options: { force?: boolean } = {}, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#transport.json("removeSandbox", { params: { id }, query: { ...options, ...wait(waiting) } });
  }

  async logs(id: string, limitBytes?: number): Promise<string> {
    return textOf(await this.#transport.call("sandboxLogs", { params: { id }, query: { limit: limitBytes } }));
  }

  operation(oid: string): Promise<Operation> {
    return this.#transport.json("getOperation", { params: { oid } });
  }

  async operations(id: string): Promise<Operation[]> {
    return (await this.#transport.json<{ operations: Operation[] }>("listOperations", { params: { id } })).operations;
  }

  async events(id: string, range: { after?: number; limit?: number } = {}): Promise<Event[]> {
    return (await this.#transport.json<{ events: Event[] }>("listEvents", { params: { id }, query: range })).events;
  }

  /** Runs a command to its end and gathers its output. */
  exec(id: string, body: ExecRequest): Promise<ExecResult> {
    return this.#transport.json("exec", { params: { id }, body });
  }

  /** Starts a command with its output and input as streams. */
  stream(id: string, request: StartSessionRequest): Promise<SessionStream> {
    return SessionStream.open(this.#transport, addressOf("execSocket", { id }), request);
  }

  /** Output of a session after a sequence number, then live; its input as a stream. */
  attach(id: string, sid: string, after = 0): Promise<SessionStream> {
    return SessionStream.open(this.#transport, addressOf("attachSession", { id, sid }, { after }));
  }

  /** Starts a command and leaves it running. */
  startSession(id: string, body: StartSessionRequest): Promise<Session> {
    return this.#transport.json("startSession", { params: { id }, body });
  }

  async sessions(id: string): Promise<Session[]> {
    return (await this.#transport.json<{ sessions: Session[] }>("listSessions", { params: { id } })).sessions;
  }

  session(id: string, sid: string): Promise<Session> {
    return this.#transport.json("getSession", { params: { id, sid } });
  }

  removeSession(id: string, sid: string, options: { force?: boolean } = {}): Promise<void> {
    return this.#transport.json("removeSession", { params: { id, sid }, query: options });
  }

  signal(id: string, sid: string, signal: string): Promise<void> {
    return this.#transport.json("signalSession", { params: { id, sid }, body: { signal } });
  }

  resize(id: string, sid: string, rows: number, columns: number): Promise<void> {
    return this.#transport.json("resizeSession", { params: { id, sid }, body: { rows, columns } });
  }

  capabilities(): Promise<Capabilities> {
    return this.#transport.json("capabilities");
  }

  info(): Promise<Info> {
    return this.#transport.json("info");
  }

  health(): Promise<{ status: "ok" }> {
    return this.#transport.json("health");
  }

  version(): Promise<{ version: string; api: string }> {
    return this.#transport.json("version");
  }
}

function wait({ waitMs }: Waiting): { wait: number | undefined } {
  return { wait: waitMs };
}
