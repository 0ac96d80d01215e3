import type {
  CreateSnapshotRequest,
  CreateWakeRequest,
  Event,
  ExposePortRequest,
  ForkRequest,
  OperationAnswer,
  PauseRequest,
  ReachablePort,
  RestoreRequest,
  ResumeRequest,
  Sandbox as SandboxRecord,
  SandboxState,
  SandboxStats,
  Session,
  Snapshot,
  StopRequest,
  UpdateSandboxRequest,
} from "@torpor/contract";
import { apart, endNames, roomAndEndNames, roomNames } from "./apart.ts";
import { bodyNames } from "./body-names.ts";
import type { DiffOptions, Waiting, WaitingForEnd, WaitingForRoom, WaitingForRoomAndEnd } from "./call-options.ts";
import type { TorporClient } from "./client.ts";
import { Command } from "./command.ts";
import type { CommandResult } from "./command-result.ts";
import { createError } from "./errors.ts";
import type { EventFilter } from "./event-client.ts";
import { type Interpreter, interpreterOf } from "./interpreter.ts";
import { type ChildOf, childrenOf, pauseAndWait, type ResumeAndWaitOptions, resumeAndWait } from "./lifecycle.ts";
import type { PortClient } from "./port-client.ts";
import { type NamesOf, refuseUnknown } from "./refuse-unknown.ts";
import { type BackgroundOptions, type CommandLine, type ExecOptions, run, start } from "./run.ts";
import { SandboxFiles } from "./sandbox-files.ts";
import { Supervised, type SuperviseOptions, supervise } from "./supervised.ts";
import { openTerminal, type Terminal, type TerminalOptions } from "./terminal.ts";
import { type WaitForOptions, waitFor } from "./wait-for.ts";
import type { WakeClient } from "./wake-client.ts";

/**
 * A sandbox. `record`, and `state` with it, is what the last call told of it; `refresh` asks anew. With `await using` it is removed at the end of
 * the block.
 */
export class Sandbox implements AsyncDisposable {
  readonly #client: TorporClient;
  #record: SandboxRecord;
  readonly files: SandboxFiles;
  /** What resumes it by itself. */
  readonly wakes: {
    create(request: CreateWakeRequest): ReturnType<WakeClient["create"]>;
    list(): ReturnType<WakeClient["list"]>;
    remove(wakeId: string): Promise<void>;
  };

  /** Ports on which its programs listen. */
  readonly ports: {
    list(): Promise<ReachablePort[]>;
    /** Gives it an address, which stays over pause, stop and restart. */
    expose(port: number, options?: ExposePortRequest): Promise<ReachablePort>;
    unexpose(port: number): Promise<void>;
    /** A connection to what listens on it. */
    connect(port: number): ReturnType<PortClient["connect"]>;
  };

  /** Its own Python, which keeps its variables from run to run, over pauses and forks. */
  readonly python: Interpreter;
  /** The same of a shell. */
  readonly shell: Interpreter;

  constructor(client: TorporClient, record: SandboxRecord) {
    this.#client = client;
    this.#record = record;
    this.files = new SandboxFiles(client, record.id);
    this.wakes = {
      create: (request) => client.wakes.create(this.id, request),
      list: () => client.wakes.list(this.id),
      remove: (wakeId) => client.wakes.remove(this.id, wakeId),
    };
    this.python = interpreterOf(client, record.id, "python");
    this.shell = interpreterOf(client, record.id, "shell");
    this.ports = {
      list: () => client.ports.list(this.id),
      expose: (port, options = {}) => client.ports.expose(this.id, port, options),
      unexpose: (port) => client.ports.unexpose(this.id, port),
      connect: (port) => client.ports.connect(this.id, port),
    };
  }

  get id(): string {
    return this.#record.id;
  }

  get name(): string {
    return this.#record.name;
  }

  get state(): SandboxState {
    return this.#record.state;
  }

  get record(): SandboxRecord {
    return this.#record;
  }

  /** Its record, asked for anew. `NotFound` when it is gone. */
  async inspect(): Promise<SandboxRecord> {
    this.#record = await this.#client.get(this.id);
    return this.#record;
  }

  /** Asks for its record anew. */
  async refresh(): Promise<this> {
    await this.inspect();
    return this;
  }

  /** Runs a command, and resolves when it has ended. Any exit code is a result; a command that can't start is thrown. */
  exec(line: CommandLine, options?: ExecOptions): Promise<CommandResult>;
  /** Starts a command, and resolves when it runs. */
  exec(line: CommandLine, options: BackgroundOptions): Promise<Command>;
  exec(line: CommandLine, options: ExecOptions | BackgroundOptions = {}): Promise<CommandResult | Command> {
    return options.background === true ? start(this.#client, this.id, line, options) : run(this.#client, this.id, line, options);
  }

  /** A command or terminal that runs or ran, by the id of its session: its output after `after`, by default all that is kept. */
  async attach(sessionId: string, options: { readonly after?: number; readonly outputLimitBytes?: number } = {}): Promise<Command> {
    refuseUnknown(options, { after: true, outputLimitBytes: true });
    const { id } = await this.#client.session(this.id, sessionId);
    return new Command(this.#client, this.id, id, { overPause: "wait", ...options });
  }

  /** Starts a command and keeps it running, by default after any end but exit code 0; without a command that of its image. */
  supervise(line: CommandLine | undefined, options: SuperviseOptions = {}): Promise<Supervised> {
    return supervise(this.#client, this.id, line, options);
  }

  /** What is kept running, by the id of its session. */
  attachSupervised(sessionId: string, options: { readonly after?: number } = {}): Supervised {
    refuseUnknown(options, { after: true });
    return new Supervised(this.#client, this.id, sessionId, { overPause: "wait", ...options });
  }

  /** Its commands and terminals, ended ones too. */
  commands(): Promise<Session[]> {
    return this.#client.sessions(this.id);
  }

  terminal(options: TerminalOptions = {}): Promise<Terminal> {
    return openTerminal(this.#client, this.id, options);
  }

  /** Saves its memory and frees what it held; its processes go on after `resume`. */
  async pause(options: PauseRequest & Waiting = {}): Promise<this> {
    return this.#takes(await this.#client.pause(this.id, ...apart<PauseRequest>(options, bodyNames.pauseSandbox)));
  }

  /** Brings its processes back. `memory`: prefer, the default: fresh ones if they can't be restored; require: an error then; discard: fresh ones. */
  async resume(options: ResumeRequest & WaitingForRoom = {}): Promise<this> {
    return this.#takes(await this.#client.resume(this.id, ...apart<ResumeRequest>(options, bodyNames.resumeSandbox, roomNames)));
  }

  async pauseAndWait(options: PauseRequest & WaitingForEnd = {}): Promise<this> {
    this.#record = await pauseAndWait(this.#client, this.id, options);
    return this;
  }

  async resumeAndWait(options: ResumeAndWaitOptions = {}): Promise<this> {
    this.#record = await resumeAndWait(this.#client, this.id, options);
    return this;
  }

  /** A copy with its memory and processes. */
  async fork(options: ForkOptions & { readonly name?: string } = {}): Promise<Sandbox> {
    refuseUnknown(options, forkNames);
    const [child] = await this.#children(options);
    if (child === undefined || child.error !== null) throw child?.error ?? createError("internal", `the fork of ${this.name} has no child`);
    return child.sandbox;
  }

  /** Several copies of the same instant, by number or by name, each with its own outcome. */
  forkMany(options: ForkOptions & ({ readonly count: number; readonly name?: string } | { readonly names: string[] })): Promise<Child[]> {
    return this.#children(options);
  }

  /** Keeps its state under a name. */
  async snapshot(options: CreateSnapshotRequest & WaitingForEnd = {}): Promise<Snapshot> {
    const answer = await this.#client.snapshot(this.id, ...apart<CreateSnapshotRequest>(options, bodyNames.createSnapshot, endNames));
    this.#takes(answer);
    const { snapshot } = answer.operation.result as { readonly snapshot: { readonly id: string } };
    return this.#client.snapshots.get(snapshot.id);
  }

  /** Puts it, paused or stopped, back to a snapshot. */
  async restore(options: RestoreRequest & Waiting): Promise<this> {
    return this.#takes(await this.#client.restore(this.id, ...apart<RestoreRequest>(options, bodyNames.restoreSandbox)));
  }

  /** Ends it and deletes its checkpoint; files stay. */
  async stop(options: StopRequest & Waiting = {}): Promise<this> {
    return this.#takes(await this.#client.stop(this.id, ...apart<StopRequest>(options, bodyNames.stopSandbox)));
  }

  /** Boots it fresh from its files. */
  async start(waiting: WaitingForRoom = {}): Promise<this> {
    return this.#takes(await this.#client.start(this.id, waiting));
  }

  /** `force`: also when it is running or paused. */
  async remove(options: { readonly force?: boolean } & Waiting = {}): Promise<void> {
    await this.#client.remove(this.id, ...apart<{ readonly force?: boolean }>(options, { force: true }));
  }

  /** Changes its labels, which are merged with those it has, and how its life is bounded in time; null takes a label or a bound away. */
  async update(settings: UpdateSandboxRequest): Promise<this> {
    this.#record = await this.#client.update(this.id, settings);
    return this;
  }

  /** Lets it run on: its ttl begins anew, or it runs at least so long from now on. */
  async extend(options: { readonly ttlMs?: number } = {}): Promise<this> {
    this.#record = await this.#client.refresh(this.id, options);
    return this;
  }

  /** Resolves when it is in a state. */
  async waitFor(options: WaitForOptions): Promise<this> {
    this.#record = await waitFor(this.#client, this.id, options);
    return this;
  }

  /** What happens to it from now on, or after a seq, until the signal. */
  events(options: Omit<EventFilter, "sandbox"> & { readonly signal?: AbortSignal } = {}): AsyncGenerator<Event> {
    refuseUnknown(options, { after: true, types: true, signal: true });
    return this.#client.feed.follow({ ...options, sandbox: this.id });
  }

  /** How its files differ from its image's, or what another sandbox has otherwise. */
  diff(options: DiffOptions = {}): ReturnType<TorporClient["diff"]> {
    return this.#client.diff(this.id, options);
  }

  /** What it uses now. Nothing is woken for it. */
  stats(): Promise<SandboxStats> {
    return this.#client.stats.get(this.id);
  }

  /** What its guest and engine wrote. */
  logs(limitBytes?: number): Promise<string> {
    return this.#client.logs(this.id, limitBytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove({ force: true }).catch((error: { readonly code?: string }) => {
      if (error.code !== "sandbox_not_found") throw error;
    });
  }

  #children(options: ForkOptions & Omit<ForkRequest, keyof ForkOptions>): Promise<Child[]> {
    return childrenOf(this.#client, this.id, options, (record) => new Sandbox(this.#client, record));
  }

  #takes({ sandbox }: OperationAnswer): this {
    this.#record = sandbox ?? this.#record;
    return this;
  }
}

export type Child = ChildOf<Sandbox>;

const { count: _count, names: _names, ...bodyOfOne } = bodyNames.forkSandbox;
/** A fork has one child: no `count` and no `names`. */
export const forkNames: NamesOf<ForkOptions & { readonly name?: string }> = { ...bodyOfOne, ...roomAndEndNames };

export type ForkOptions = Omit<ForkRequest, "name" | "names" | "count"> & WaitingForRoomAndEnd;
