import {
  type Actor,
  type CreatedWake,
  type CreateSandboxRequest,
  type CreateSnapshotRequest,
  type CreateWakeRequest,
  type Difference,
  defaultTeam,
  type Event,
  type ExposedPort,
  type ExposePortRequest,
  type FamilyMember,
  type ForkRequest,
  type NodeStats,
  type Operation,
  type OperationAnswer,
  type PauseRequest,
  type RebaseRequest,
  type RefreshRequest,
  type RestoreRequest,
  type ResumeRequest,
  type Sandbox,
  type SandboxStats,
  type StopRequest,
  type UpdateSandboxRequest,
  type WakeAccepted,
  type WakeList,
} from "@torpor/contract";
import { Access } from "./access/access.ts";
import { type Named, requireOwn } from "./access/teams.ts";
import { Answers } from "./answers.ts";
import type { Asking } from "./asking.ts";
import { cancel, checkCancelled } from "./cancel.ts";
import { ask, lookUp } from "./commands.ts";
import { compareFiles, type DiffOptions } from "./comparing.ts";
import { create } from "./creation.ts";
import { openDesk } from "./desk-opening.ts";
import { watchEnds } from "./ends.ts";
import { EventFeed } from "./events/feed.ts";
import { watchedStore } from "./events/watched-store.ts";
import { expose, findExposed, unexpose } from "./exposing.ts";
import { family } from "./family.ts";
import { type GuestUse, useGuest } from "./guest-use.ts";
import { doOnce, type KeyFor, type Once } from "./idempotency.ts";
import { imagesInUse } from "./images-in-use.ts";
import { createInterpreters, type Interpreters } from "./interpreters/interpreters.ts";
import type { Command } from "./lifecycle/states.ts";
import { type ListFilter, type Page, page } from "./listing.ts";
import type { Meter } from "./metering.ts";
import { Patience } from "./patience.ts";
import type { Ports } from "./ports/ports.ts";
import type { Share } from "./ports/share.ts";
import type { WakeCall } from "./ports/wake-store.ts";
import { answer, type EventRange, operation, operations, view } from "./reading.ts";
import { type Recovery, recover } from "./recovery.ts";
import { Restarts } from "./restarts.ts";
import { defaultRetention, forget, type Retention } from "./retention.ts";
import { serveRequests } from "./self-control.ts";
import { rollbackOf } from "./snapshot-use.ts";
import { expireSnapshots, getSnapshot, listSnapshots, removeSnapshot, type Snapshots, updateSnapshot } from "./snapshots.ts";
import { Stats } from "./stats.ts";
import { createSessions, type Sessions } from "./supervision/sessions.ts";
import { pauseForBudgets } from "./teams/budget-pauses.ts";
import type { Teams } from "./teams/teams.ts";
import { refresh, update } from "./time/update.ts";
import { callWake, createWake, listWakes, removeWake } from "./wakes/wakes.ts";
import { Courier } from "./webhooks/courier.ts";
import { createWebhooks, type Webhooks } from "./webhooks/webhooks.ts";

export interface CallOptions {
  /**
   * The answer comes when the operation has ended, or after this time with the operation at work. Default: at its end. It
   * bounds also the wait for another operation that is in the way.
   */
  readonly waitMs?: number;
  /** How long a call whose sandbox does not fit on the node waits for others to make room, before the refusal. Default 0. */
  readonly waitCapacityMs?: number;
  /** Whose sandbox a create makes. Default: `default`. */
  readonly team?: string;
  /** Who asks. Default user. */
  readonly actor?: Actor;
  /** Makes the call repeatable. */
  readonly once?: Once;
}

/**
 * The use cases. What is refused is a thrown `TorporError`, and nothing has changed. What was begun is an answer, also if it
 * failed: the error is in its operation. What was so already succeeds with `result.unchanged`.
 */
export interface Lifecycle {
  /**
   * Before anybody is let in: finishes or undoes what a killed daemon left, and frees what nothing refers to. From then on sandboxes are ended when
   * their time is over, those that it was over for meanwhile at once.
   */
  recover(): Promise<Recovery>;
  create(request: CreateSandboxRequest, options?: CallOptions): Promise<OperationAnswer>;
  pause(idOrName: string, request?: PauseRequest, options?: CallOptions): Promise<OperationAnswer>;
  resume(idOrName: string, request?: ResumeRequest, options?: CallOptions): Promise<OperationAnswer>;
  fork(idOrName: string, request?: ForkRequest, options?: CallOptions): Promise<OperationAnswer>;
  stop(idOrName: string, request?: StopRequest, options?: CallOptions): Promise<OperationAnswer>;
  start(idOrName: string, request?: Readonly<Record<never, never>>, options?: CallOptions): Promise<OperationAnswer>;
  remove(idOrName: string, request?: { readonly force?: boolean }, options?: CallOptions): Promise<OperationAnswer>;
  snapshot(idOrName: string, request?: CreateSnapshotRequest, options?: CallOptions): Promise<OperationAnswer>;
  restore(idOrName: string, request: RestoreRequest, options?: CallOptions): Promise<OperationAnswer>;
  rebase(idOrName: string, request: RebaseRequest, options?: CallOptions): Promise<OperationAnswer>;
  /** Restores what was before the last rebase. */
  rollback(idOrName: string, options?: CallOptions): Promise<OperationAnswer>;
  readonly snapshots: Snapshots;
  /** Changes its labels, or how its life is bounded in time. An operation at work is waited for. */
  update(idOrName: string, request: UpdateSandboxRequest, options?: Pick<CallOptions, "waitMs">): Promise<Sandbox>;
  /** Its ttl begins anew. It calls off a pause that its ttl or idleness has just begun. */
  refresh(idOrName: string, request?: RefreshRequest, options?: Pick<CallOptions, "waitMs">): Promise<Sandbox>;
  /** Lets it be resumed at a time, by a schedule or by a call. */
  createWake(idOrName: string, request: CreateWakeRequest, options?: Pick<CallOptions, "once">): Promise<CreatedWake>;
  listWakes(idOrName: string): Promise<WakeList>;
  removeWake(idOrName: string, wakeId: string): Promise<void>;
  /** By whoever has the token. What it brings is stored when this resolves. */
  callWake(token: string, call: WakeCall): Promise<WakeAccepted>;
  /** Gives a port of it an address, which is kept over pause, stop and restart. */
  expose(idOrName: string, port: number, request?: ExposePortRequest): Promise<ExposedPort>;
  unexpose(idOrName: string, port: number): Promise<void>;
  /** What the first label of a host name means. */
  exposed(label: string): Promise<ExposedPort & { readonly sandboxId: string }>;
  get(idOrName: string): Promise<Sandbox>;
  /** Oldest first. */
  list(): Promise<Sandbox[]>;
  /** Some of them, a page at a time. */
  page(filter?: ListFilter): Promise<Page>;
  /** How its files differ from its image's, or those of another sandbox (`with`) from its own. Refusals come with the first. */
  diff(idOrName: string, options?: DiffOptions): AsyncIterable<Difference>;
  /** What was forked from what: all, or the family of one. Parents before their children. */
  family(idOrName?: string, team?: string): Promise<FamilyMember[]>;
  operation(id: string): Promise<Operation>;
  /** Undoes an operation that is not past its commit point. The answer has it as failed with `operation_cancelled`. */
  cancel(operationId: string, options?: Pick<CallOptions, "waitMs">): Promise<OperationAnswer>;
  operations(idOrName: string): Promise<Operation[]>;
  /** Of one sandbox, also of a removed one by its id; oldest first. */
  events(idOrName: string, range?: EventRange): Promise<Event[]>;
  /** Of all sandboxes, as a list and as they come. */
  readonly feed: EventFeed;
  readonly webhooks: Webhooks;
  /** Of calls that begin no operation. */
  readonly answers: Answers;
  /** Refuses what another team has, as if it were not there. */
  requireOwn(team: string, named: Named): Promise<void>;
  /** Who may call. */
  readonly access: Access;
  /**
   * The line to a running sandbox. One that is about to run is waited for, at most `waitMs`, by default 30 s; one that is paused and set to it is
   * resumed. What is done over the line is use of the sandbox.
   */
  guest(idOrName: string, options?: { readonly waitMs?: number }): Promise<GuestUse>;
  readonly sessions: Sessions;
  readonly interpreters: Interpreters;
  logs(idOrName: string, limitBytes: number): Promise<string>;
  /** What one uses now, or all do. Nothing is woken or asked for it that does not run. */
  stats(idOrName: string): Promise<SandboxStats>;
  allStats(team?: string): Promise<Omit<NodeStats, "pool">>;
  /** What each has used so far; written down it is where a later daemon goes on counting, and paid for. */
  readonly usage: Pick<Meter, "list"> & { write(): Promise<void> };
  readonly teams: Pick<Teams, "list" | "setLimits" | "topUp" | "prices" | "setPrices">;
  /** Pauses what runs of teams that owe too much. */
  pauseForBudgets(): Promise<void>;
  /** What all sandboxes hold of the node, and may hold. */
  capacity(): Promise<{ readonly held: Share; readonly capacity: Share }>;
  /** Digests of the images that sandboxes and snapshots need. */
  imagesInUse(): Promise<ReadonlySet<string>>;
  /** Deletes old finished operations and events; the number of what was deleted. */
  forget(retention?: Retention): Promise<number>;
  /** Resolves when no operation is at work and nothing is left to free. */
  idle(): Promise<void>;
  /** Nothing begins by itself any more. Resolves when nothing is at work. */
  close(): Promise<void>;
}

export function createLifecycle(given: Ports): Lifecycle {
  const store = watchedStore(given.store, () => {
    feed.announce();
    courier.consider();
  });
  const feed = new EventFeed({ ...given, store });
  const courier = new Courier({ ...given, store });
  const { desk, byItself } = openDesk({ ...given, store, drain: (sandboxId) => courier.drain(sandboxId) });
  const { ports, runner, room } = desk;
  const restarts = new Restarts(desk);
  const stats = new Stats(ports);
  watchEnds(ports, runner, (sandboxId) => restarts.consider(sandboxId));
  const call = async (scope: string, options: CallOptions, work: (patience: Patience, keyFor: KeyFor) => Promise<Asking>) => {
    const begin = async () => {
      const patience = new Patience(ports.clock, options.waitMs);
      const asking = await doOnce(ports, runner, { once: options.once, scope }, (keyFor) => work(patience, keyFor));
      return { asking, patience };
    };
    const { waitCapacityMs = 0 } = options;
    const { asking, patience } = await (waitCapacityMs === 0 ? begin() : room.enter(new Patience(ports.clock, waitCapacityMs), begin));
    return answer(desk, asking, patience);
  };
  const command = (idOrName: string, name: Command, request: object, options: CallOptions = {}): Promise<OperationAnswer> =>
    call(`${name} ${idOrName}`, options, (patience, keyFor) =>
      ask(desk, { idOrName, command: name, request: { ...request }, actor: options.actor ?? "user", patience, keyFor }),
    );
  const pause: Lifecycle["pause"] = (idOrName, request = {}, options) => command(idOrName, "pause", request, options);
  const fork: Lifecycle["fork"] = (idOrName, request = {}, options) => command(idOrName, "fork", request, options);
  let recovered: Promise<unknown> = Promise.resolve();
  const snapshot: Lifecycle["snapshot"] = (idOrName, request = {}, options) => command(idOrName, "snapshot", request, options);
  const wakes = {
    createWake: (idOrName: string, request: CreateWakeRequest, { once }: Pick<CallOptions, "once"> = {}) =>
      createWake(desk, idOrName, request, once),
    listWakes: (idOrName: string) => listWakes(desk, idOrName),
    removeWake: (idOrName: string, wakeId: string) => removeWake(desk, idOrName, wakeId),
  };
  serveRequests(ports, { pause, fork, snapshot, ...wakes }, () => recovered);
  return {
    async recover() {
      const recovering = recover(ports, runner);
      recovered = recovering;
      const recovery = await recovering;
      await desk.teams.open();
      await desk.meter.open();
      await restarts.considerAll();
      courier.consider();
      await byItself.open();
      return recovery;
    },
    create: (request, options = {}) =>
      call("create", options, (_, keyFor) =>
        create(desk, request, { actor: options.actor ?? "user", team: options.team ?? defaultTeam }, keyFor),
      ),
    pause,
    resume: (idOrName, request = {}, options) => command(idOrName, "resume", request, options),
    fork,
    stop: (idOrName, request = {}, options) => command(idOrName, "stop", request, options),
    start: (idOrName, _request, options) => command(idOrName, "start", {}, options),
    remove: (idOrName, request = {}, options) => command(idOrName, "remove", request, options),
    snapshot,
    restore: (idOrName, request, options) => command(idOrName, "restore", request, options),
    rebase: (idOrName, request, options) => command(idOrName, "rebase", request, options),
    rollback: async (idOrName, options) => command(idOrName, "restore", await rollbackOf(ports, await lookUp(ports, idOrName)), options),
    snapshots: {
      get: (idOrName) => getSnapshot(ports, idOrName),
      list: (team) => listSnapshots(ports, team),
      update: async (idOrName, request) => updateSnapshot(ports, idOrName, request),
      remove: (idOrName, request = {}) => removeSnapshot(ports, idOrName, request),
      expire: () => expireSnapshots(ports),
    },
    update: async (idOrName, request, { waitMs } = {}) =>
      view(ports, await update(desk, idOrName, request, new Patience(ports.clock, waitMs))),
    refresh: async (idOrName, request = {}, { waitMs } = {}) =>
      view(ports, await refresh(desk, idOrName, request, new Patience(ports.clock, waitMs))),
    ...wakes,
    callWake: (token, given) => callWake(desk, token, given),
    expose: (idOrName, port, request = {}) => expose(desk, idOrName, port, request, new Patience(ports.clock, undefined)),
    unexpose: (idOrName, port) => unexpose(desk, idOrName, port, new Patience(ports.clock, undefined)),
    exposed: (label) => findExposed(desk, label),
    get: async (idOrName) => view(ports, await lookUp(ports, idOrName)),
    list: async () => (await page(ports, {})).sandboxes,
    page: (filter = {}) => page(ports, filter),
    diff: (idOrName, options = {}) => compareFiles(desk, idOrName, options),
    family: (idOrName, team) => family(ports, idOrName, team),
    operation: (id) => operation(ports, id),
    async cancel(id, { waitMs } = {}) {
      const given = await answer(desk, await cancel(desk, id), new Patience(ports.clock, waitMs));
      checkCancelled(given.operation);
      return given;
    },
    operations: (idOrName) => operations(ports, idOrName),
    events: async (idOrName, range = {}) => [...(await feed.list({ sandbox: idOrName }, range)).events],
    feed,
    answers: new Answers(ports),
    sessions: createSessions(desk),
    interpreters: createInterpreters(desk),
    webhooks: createWebhooks(ports, courier),
    access: new Access(ports),
    requireOwn: (team, named) => requireOwn(ports.store, team, named),
    guest: (idOrName, { waitMs } = {}) => useGuest(desk, idOrName, waitMs === undefined ? {} : { waitMs }),
    async logs(idOrName, limitBytes) {
      const { runtimeId } = await lookUp(ports, idOrName);
      return runtimeId === null ? "" : ports.engine.logs(runtimeId, limitBytes);
    },
    stats: (idOrName) => stats.of(idOrName),
    allStats: (team) => stats.all(team),
    usage: { list: (team) => desk.meter.list(team), write: () => desk.teams.settle() },
    teams: desk.teams,
    pauseForBudgets: () => pauseForBudgets(desk),
    capacity: async () => ({ held: await ports.store.held(), capacity: ports.node.capacity }),
    imagesInUse: () => imagesInUse(ports),
    forget: (retention = defaultRetention) => forget(ports, retention),
    idle: () => runner.idle(),
    async close() {
      await byItself.close();
      await courier.stop();
      await runner.idle();
    },
  };
}
