import type { Capabilities, CreateSandboxRequest, FamilyMember, Info, PauseRequest, Sandbox as SandboxRecord } from "@torpor/contract";
import type { AccessClient } from "./access-client.ts";
import { roomAndEndNames } from "./apart.ts";
import { bodyNames } from "./body-names.ts";
import type { SandboxFilter, WaitingForEnd, WaitingForRoomAndEnd } from "./call-options.ts";
import { TorporClient } from "./client.ts";
import type { ClientOptions } from "./endpoint.ts";
import type { EventClient } from "./event-client.ts";
import { given } from "./given.ts";
import type { ImageClient } from "./image-client.ts";
import { pauseAndWait, type ResumeAndWaitOptions, resumeAndWait } from "./lifecycle.ts";
import { SandboxListing } from "./listing.ts";
import type { OperationClient } from "./operation-client.ts";
import { type NamesOf, refuseUnknown } from "./refuse-unknown.ts";
import { type ForkOptions, forkNames, Sandbox } from "./sandbox.ts";
import type { SnapshotClient } from "./snapshot-client.ts";
import type { StatsClient } from "./stats-client.ts";
import type { TeamClient } from "./team-client.ts";
import type { WakeClient } from "./wake-client.ts";
import type { WebhookClient } from "./webhook-client.ts";

export type CreateOptions = Omit<CreateSandboxRequest, "count" | "resources"> &
  WaitingForRoomAndEnd & {
    readonly resources?: CreateSandboxRequest["resources"];
    /** For `resources.memoryBytes`, and so on. */
    readonly memoryMiB?: number;
    readonly diskMiB?: number;
    readonly cpus?: number;
    readonly pids?: number;
  };

/** A daemon: the local one by its socket, or one elsewhere by its URL. */
export class Torpor implements AsyncDisposable, Disposable {
  readonly #client: TorporClient;
  readonly images: ImageClient;
  readonly snapshots: SnapshotClient;
  /** Events of all sandboxes: those that are kept (`list`), and those that come (`follow`). */
  readonly events: EventClient;
  readonly wakes: WakeClient;
  readonly webhooks: WebhookClient;
  readonly operations: OperationClient;
  /** Who may call the daemon, and as whom this client does. */
  readonly access: AccessClient;
  /** What teams may hold, and what they pay. */
  readonly teams: TeamClient;
  /** What sandboxes use, and have used. */
  readonly stats: StatsClient;
  /** Sandboxes by id or name, for who has no object of one. */
  readonly sandboxes: {
    create(options: CreateOptions): Promise<Sandbox>;
    get(id: string): Promise<Sandbox>;
    list(filter?: SandboxFilter): SandboxListing;
    pauseAndWait(id: string, options?: PauseRequest & WaitingForEnd): Promise<SandboxRecord>;
    resumeAndWait(id: string, options?: ResumeAndWaitOptions): Promise<SandboxRecord>;
  };

  constructor(options: ClientOptions = {}) {
    const client = new TorporClient(options);
    this.#client = client;
    this.images = client.images;
    this.snapshots = client.snapshots;
    this.events = client.feed;
    this.wakes = client.wakes;
    this.webhooks = client.webhooks;
    this.operations = client.operationsOf;
    this.access = client.access;
    this.teams = client.teams;
    this.stats = client.stats;
    this.sandboxes = {
      create: (request) => this.create(request),
      get: (id) => this.get(id),
      list: (filter) => this.list(filter),
      pauseAndWait: (id, request = {}) => pauseAndWait(client, id, request),
      resumeAndWait: (id, request = {}) => resumeAndWait(client, id, request),
    };
  }

  /** Makes a sandbox from an image or a snapshot, and resolves when it runs. */
  async create(options: CreateOptions): Promise<Sandbox> {
    refuseUnknown(options, createNames);
    const [request, waiting] = requestOf(options);
    const { sandbox, operation } = await this.#client.create(request, waiting);
    return new Sandbox(this.#client, sandbox ?? (await this.#client.get(operation.sandboxId)));
  }

  /** Several from a snapshot in one call; those that could not be made are thrown, all together, only if there is none. */
  async createMany(options: CreateOptions & { readonly snapshot: string; readonly count: number }): Promise<Sandbox[]> {
    refuseUnknown(options, { ...createNames, count: true });
    const [request, waiting] = requestOf(options);
    const { siblings = [], ...first } = await this.#client.create(request, waiting);
    return [first, ...siblings].flatMap(({ sandbox }) => (sandbox === null ? [] : [new Sandbox(this.#client, sandbox)]));
  }

  /** By its id or name. */
  async get(id: string): Promise<Sandbox> {
    return new Sandbox(this.#client, await this.#client.get(id));
  }

  /** Oldest first. `await` it for a list, or iterate it for a page at a time. */
  list(filter: SandboxFilter = {}): SandboxListing {
    return new SandboxListing(this.#client, filter);
  }

  async fork(id: string, options: ForkOptions & { readonly name?: string } = {}): Promise<Sandbox> {
    refuseUnknown(options, forkNames);
    return (await this.get(id)).fork(options);
  }

  /** What was forked from what: all, or the family of one sandbox. */
  tree(sandbox?: string): Promise<FamilyMember[]> {
    return this.#client.tree(sandbox);
  }

  capabilities(): Promise<Capabilities> {
    return this.#client.capabilities();
  }

  info(): Promise<Info> {
    return this.#client.info();
  }

  version(): ReturnType<TorporClient["version"]> {
    return this.#client.version();
  }

  /** Ends all connections: those that are idle, and streams that nobody read to their end. Commands go on. */
  close(): void {
    this.#client.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

const { count: _count, ...bodyOfOne } = bodyNames.createSandbox;
/** One is made: no `count`. */
const createNames: NamesOf<CreateOptions> = { ...bodyOfOne, ...roomAndEndNames, memoryMiB: true, diskMiB: true, cpus: true, pids: true };

function requestOf(options: CreateOptions & { readonly count?: number }): [CreateSandboxRequest, WaitingForRoomAndEnd] {
  const { timeoutMs, waitCapacityMs, signal, onProgress, resources, memoryMiB, diskMiB, cpus, pids, ...request } = options;
  const bounds = given({
    memoryBytes: memoryMiB === undefined ? undefined : memoryMiB * 1024 * 1024,
    diskBytes: diskMiB === undefined ? undefined : diskMiB * 1024 * 1024,
    cpus,
    pids,
  });
  const all = { ...resources, ...bounds };
  return [
    { ...request, ...(Object.keys(all).length === 0 ? {} : { resources: all }) },
    given({ timeoutMs, waitCapacityMs, signal, onProgress }),
  ];
}
