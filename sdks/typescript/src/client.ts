import type {
  BeginSessionRequest,
  Capabilities,
  CreateSandboxRequest,
  CreateSnapshotRequest,
  Difference,
  DifferenceLine,
  Event,
  ExecRequest,
  ExecResult,
  FamilyMember,
  ForkRequest,
  Info,
  Operation,
  OperationAnswer,
  PauseRequest,
  RebaseRequest,
  RefreshRequest,
  RestoreRequest,
  ResumeRequest,
  Sandbox,
  Session,
  StartSessionRequest,
  StopRequest,
  UpdateSandboxRequest,
} from "@torpor/contract";
import { AccessClient } from "./access-client.ts";
import { waitOf } from "./apart.ts";
import { startNames } from "./body-names.ts";
import type { DiffOptions, SandboxFilter, SandboxPage, Waiting, WaitingForRoom } from "./call-options.ts";
import { addressOf } from "./calls.ts";
import { type ClientOptions, endpointOf } from "./endpoint.ts";
import { createError } from "./errors.ts";
import { EventClient } from "./event-client.ts";
import { FileClient } from "./file-client.ts";
import { ImageClient } from "./image-client.ts";
import { InterpreterClient } from "./interpreter-client.ts";
import { type LastingOptions, LastingSession, type SocketLike } from "./lasting-session.ts";
import { linesOf } from "./lines.ts";
import { OperationClient } from "./operation-client.ts";
import { PortClient } from "./port-client.ts";
import { refuseUnknown } from "./refuse-unknown.ts";
import { openSocket, SessionStream } from "./session-stream.ts";
import { SnapshotClient } from "./snapshot-client.ts";
import { StatsClient } from "./stats-client.ts";
import { SupervisedClient } from "./supervised-client.ts";
import { TeamClient } from "./team-client.ts";
import { Transport, textOf, toError } from "./transport.ts";
import { WakeClient } from "./wake-client.ts";
import { WebhookClient } from "./webhook-client.ts";

/** The calls of one daemon. `id` is a sandbox's id or name; failures are `TorporError`s. */
export class TorporClient {
  readonly #transport: Transport;
  readonly files: FileClient;
  readonly images: ImageClient;
  readonly snapshots: SnapshotClient;
  /** Events of all sandboxes. */
  readonly feed: EventClient;
  readonly webhooks: WebhookClient;
  readonly wakes: WakeClient;
  readonly ports: PortClient;
  readonly operationsOf: OperationClient;
  readonly access: AccessClient;
  /** What teams may hold of the node, and what they pay. */
  readonly teams: TeamClient;
  readonly supervised: SupervisedClient;
  /** What sandboxes use now. */
  readonly stats: StatsClient;
  readonly interpreters: InterpreterClient;

  constructor(options: ClientOptions = {}) {
    refuseUnknown(options, { socket: true, url: true, token: true });
    this.#transport = new Transport(endpointOf(options, globalThis.process?.env ?? {}));
    this.files = new FileClient(this.#transport);
    this.images = new ImageClient(this.#transport);
    this.snapshots = new SnapshotClient(this.#transport);
    this.feed = new EventClient(this.#transport);
    this.ports = new PortClient(this.#transport);
    this.webhooks = new WebhookClient(this.#transport);
    this.wakes = new WakeClient(this.#transport);
    this.operationsOf = new OperationClient(this.#transport);
    this.access = new AccessClient(this.#transport);
    this.teams = new TeamClient(this.#transport);
    this.supervised = new SupervisedClient(this.#transport);
    this.stats = new StatsClient(this.#transport);
    this.interpreters = new InterpreterClient(this.#transport);
  }

  /** Gives idle connections back. */
  close(): void {
    this.#transport.close();
  }

  create(body: CreateSandboxRequest, waiting: WaitingForRoom = {}): Promise<OperationAnswer> {
    return this.#change("createSandbox", { body }, waiting);
  }

  /** Oldest first: all of them, or those that the filter lets through. Without a filter the call is one that older daemons know. */
  async list(filter: SandboxFilter = {}): Promise<Sandbox[]> {
    return (await this.page(filter)).sandboxes;
  }

  /** At most `limit` of them, from `after` on, which is the `next` of the page before. */
  async page(filter: SandboxFilter = {}, range: { readonly limit?: number; readonly after?: string } = {}): Promise<SandboxPage> {
    refuseUnknown(filter, { states: true, labels: true });
    refuseUnknown(range, { limit: true, after: true });
    const label = Object.entries(filter.labels ?? {}).map(([name, value]) => `${name}=${value}`);
    const query = { state: filter.states?.join(","), label: label.length === 0 ? undefined : label.join(","), ...range };
    return this.#transport.json("listSandboxes", { query });
  }

  get(id: string): Promise<Sandbox> {
    return this.#transport.json("getSandbox", { params: { id } });
  }

  /** Changes how its life is bounded in time. null takes a bound away. */
  async update(id: string, body: UpdateSandboxRequest, waiting: Waiting = {}): Promise<Sandbox> {
    return this.#transport.json("updateSandbox", { params: { id }, body, query: waitOf(waiting) });
  }

  /** Its ttl begins anew, or it gets the given time to run at least. */
  async refresh(id: string, body: RefreshRequest = {}, waiting: Waiting = {}): Promise<Sandbox> {
    return this.#transport.json("refreshSandbox", { params: { id }, body, query: waitOf(waiting) });
  }

  pause(id: string, body: PauseRequest = {}, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#change("pauseSandbox", { params: { id }, body }, waiting);
  }

  resume(id: string, body: ResumeRequest = {}, waiting: WaitingForRoom = {}): Promise<OperationAnswer> {
    return this.#change("resumeSandbox", { params: { id }, body }, waiting);
  }

  fork(id: string, body: ForkRequest = {}, waiting: WaitingForRoom = {}): Promise<OperationAnswer> {
    return this.#change("forkSandbox", { params: { id }, body }, waiting);
  }

  /** What was forked from what: all, or the family of one sandbox. Parents stand before their children. */
  async tree(sandbox?: string): Promise<FamilyMember[]> {
    return (await this.#transport.json<{ members: FamilyMember[] }>("tree", { query: { sandbox } })).members;
  }

  /**
   * How its files differ from its image's; with another sandbox, what that one has otherwise. One after the other as they are found, at most
   * `limit`; the generator returns whether there are more. Nothing is woken.
   */
  async *diff(id: string, options: DiffOptions = {}): AsyncGenerator<Difference, { readonly truncated: boolean }> {
    refuseUnknown(options, { with: true, limit: true, signal: true });
    const { signal, ...query } = options;
    const request = { params: { id }, query, headers: { accept: "application/x-ndjson" }, ...(signal === undefined ? {} : { signal }) };
    for await (const text of linesOf(await this.#transport.call("diffSandbox", request))) {
      const line = JSON.parse(text) as DifferenceLine;
      if ("end" in line) return line.end;
      if ("error" in line) throw toError(line.error as Parameters<typeof toError>[0]);
      yield line.difference;
    }
    throw createError("connection_lost", "the connection to torpord broke off before all differences were there", {
      hint: "Ask again.",
    });
  }

  /** Keeps its state; the operation's `result.snapshot` has the id and name. */
  snapshot(id: string, body: CreateSnapshotRequest = {}, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#change("createSnapshot", { params: { id }, body }, waiting);
  }

  /** Puts a paused or stopped sandbox back to a snapshot. */
  restore(id: string, body: RestoreRequest, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#change("restoreSandbox", { params: { id }, body }, waiting);
  }

  /** Puts the files of a paused or stopped sandbox over another image. */
  rebase(id: string, body: RebaseRequest, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#change("rebaseSandbox", { params: { id }, body }, waiting);
  }

  /** Takes its last rebase back. */
  rollback(id: string, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#change("rollbackSandbox", { params: { id }, body: {} }, waiting);
  }

  stop(id: string, body: StopRequest = {}, waiting: Waiting = {}): Promise<OperationAnswer> {
    return this.#change("stopSandbox", { params: { id }, body }, waiting);
  }

  start(id: string, waiting: WaitingForRoom = {}): Promise<OperationAnswer> {
    return this.#change("startSandbox", { params: { id }, body: {} }, waiting);
  }

  async remove(id: string, options: { force?: boolean } = {}, waiting: Waiting = {}): Promise<OperationAnswer> {
    refuseUnknown(options, { force: true });
    return this.#change("removeSandbox", { params: { id }, query: options }, waiting);
  }

  async logs(id: string, limitBytes?: number): Promise<string> {
    return textOf(await this.#transport.call("sandboxLogs", { params: { id }, query: { limit: limitBytes } }));
  }

  operation(oid: string): Promise<Operation> {
    return this.operationsOf.get(oid);
  }

  /** Undoes an operation that has not gone too far; the answer has it as failed with `operation_cancelled`. */
  cancel(oid: string, waiting: Pick<Waiting, "waitMs"> = {}): Promise<OperationAnswer> {
    return this.operationsOf.cancel(oid, waiting);
  }

  operations(id: string): Promise<Operation[]> {
    return this.operationsOf.list(id);
  }

  async events(id: string, range: { after?: number; limit?: number } = {}): Promise<Event[]> {
    refuseUnknown(range, { after: true, limit: true });
    return (await this.#transport.json<{ events: Event[] }>("listEvents", { params: { id }, query: range })).events;
  }

  /** Runs a command to its end and gathers its output. */
  exec(id: string, body: ExecRequest): Promise<ExecResult> {
    return this.#transport.json("exec", { params: { id }, body });
  }

  /** Starts a command with its output and input as streams. With `client` its input has positions, as in `attach`. */
  async stream(id: string, request: StartSessionRequest, options: { client?: string } = {}): Promise<SessionStream> {
    refuseUnknown(request, startNames);
    refuseUnknown(options, { client: true });
    return SessionStream.open(this.#transport, addressOf("execSocket", { id }, options), request);
  }

  /**
   * Output of a session after a sequence number, then live; its input as a stream. The process waits for a reader that is
   * slow, unless `hold` is false: then output that was not read in time is lost.
   */
  async attach(
    id: string,
    sid: string,
    options: { after?: number; hold?: boolean; mode?: "read" | "write"; client?: string } = {},
  ): Promise<SessionStream> {
    refuseUnknown(options, { after: true, hold: true, mode: true, client: true });
    return SessionStream.open(this.#transport, addressOf("attachSession", { id, sid }, options));
  }

  /** The same over connections that come and go: a network that drops, a daemon that is restarted. */
  lastingSession(id: string, sid: string, options: Omit<LastingOptions, "connect" | "look"> = {}): LastingSession {
    refuseUnknown(options, { after: true, mode: true, hold: true, takeover: true, giveUpMs: true });
    return new LastingSession({
      ...options,
      connect: (query) => openSocket(this.#transport, addressOf("attachSession", { id, sid }, { ...query })) as unknown as SocketLike,
      look: () => this.session(id, sid),
    });
  }

  /** Starts a command and leaves it running; with `supervise` it is kept running. */
  startSession(id: string, body: BeginSessionRequest): Promise<Session> {
    return this.#transport.json("startSession", { params: { id }, body });
  }

  async sessions(id: string): Promise<Session[]> {
    return (await this.#transport.json<{ sessions: Session[] }>("listSessions", { params: { id } })).sessions;
  }

  session(id: string, sid: string): Promise<Session> {
    return this.#transport.json("getSession", { params: { id, sid } });
  }

  async removeSession(id: string, sid: string, options: { force?: boolean } = {}): Promise<void> {
    refuseUnknown(options, { force: true });
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

  #change(...given: Parameters<OperationClient["change"]>): Promise<OperationAnswer> {
    return this.operationsOf.change(...given);
  }
}
