import {
  type CreateSandboxRequest,
  type Event,
  type ForkRequest,
  type Operation,
  type OperationAnswer,
  type PauseRequest,
  type ResumeRequest,
  type Sandbox,
  type StopRequest,
  TorporError,
} from "@torpor/contract";
import { type Asking, ask, lookUp } from "./commands.ts";
import { watchEnds } from "./ends.ts";
import { busy, nameTaken, notFound, notRunning } from "./lifecycle/refusals.ts";
import { type Command, isSettled } from "./lifecycle/states.ts";
import { generateName } from "./names.ts";
import { commitBirth } from "./operations/birth.ts";
import { Runner } from "./operations/runner.ts";
import type { Guest } from "./ports/guest.ts";
import type { Ports } from "./ports/ports.ts";
import type { SandboxRecord } from "./ports/store.ts";
import { type Recovery, recover } from "./recovery.ts";
import { requireCapability, resolveResources } from "./validation.ts";
import { operationView, sandboxView } from "./views.ts";

export interface CallOptions {
  /** The answer comes when the operation has ended, or after this time with the operation at work. Default: at its end. */
  readonly waitMs?: number;
  /** Who asks. Default user. */
  readonly actor?: string;
}

export interface EventRange {
  readonly after?: number;
  readonly limit?: number;
}

/**
 * The use cases. What is refused is a thrown `TorporError`, and nothing has changed. What was begun is an answer, also if it
 * failed: the error is in its operation. What was so already succeeds with `result.unchanged`.
 */
export interface Lifecycle {
  /** Before anybody is let in: finishes or undoes what a killed daemon left, and frees what nothing refers to. */
  recover(): Promise<Recovery>;
  create(request: CreateSandboxRequest, options?: CallOptions): Promise<OperationAnswer>;
  pause(idOrName: string, request?: PauseRequest, options?: CallOptions): Promise<OperationAnswer>;
  resume(idOrName: string, request?: ResumeRequest, options?: CallOptions): Promise<OperationAnswer>;
  fork(idOrName: string, request?: ForkRequest, options?: CallOptions): Promise<OperationAnswer>;
  stop(idOrName: string, request?: StopRequest, options?: CallOptions): Promise<OperationAnswer>;
  start(idOrName: string, request?: Readonly<Record<never, never>>, options?: CallOptions): Promise<OperationAnswer>;
  remove(idOrName: string, request?: { readonly force?: boolean }, options?: CallOptions): Promise<OperationAnswer>;
  get(idOrName: string): Promise<Sandbox>;
  /** Oldest first. */
  list(): Promise<Sandbox[]>;
  operation(id: string): Promise<Operation>;
  operations(idOrName: string): Promise<Operation[]>;
  /** Of one sandbox, also of a removed one by its id; oldest first. */
  events(idOrName: string, range?: EventRange): Promise<Event[]>;
  /** The line to a running sandbox. */
  guest(idOrName: string): Promise<Guest>;
  logs(idOrName: string, limitBytes: number): Promise<string>;
  /** Digests of the images that sandboxes need. */
  imagesInUse(): Promise<ReadonlySet<string>>;
  /** Resolves when no operation is at work and nothing is left to free. */
  idle(): Promise<void>;
}

export function createLifecycle(ports: Ports): Lifecycle {
  const runner = new Runner(ports);
  watchEnds(ports, runner);
  const command = async (idOrName: string, name: Command, request: object, options: CallOptions = {}): Promise<OperationAnswer> => {
    const asking = await ask(ports, runner, { idOrName, command: name, request: { ...request }, actor: options.actor ?? "user" });
    return answer(ports, asking, options);
  };
  return {
    recover: () => recover(ports, runner),
    create: (request, options = {}) => create(ports, runner, request, options),
    async pause(idOrName, request = {}, options) {
      await requireCapability(ports, "pause");
      return command(idOrName, "pause", request, options);
    },
    async resume(idOrName, request = {}, options) {
      await requireCapability(ports, "resume");
      return command(idOrName, "resume", request, options);
    },
    async fork(idOrName, request = {}, options) {
      await requireCapability(ports, "fork");
      return command(idOrName, "fork", request, options);
    },
    stop: (idOrName, request = {}, options) => command(idOrName, "stop", request, options),
    start: (idOrName, _request, options) => command(idOrName, "start", {}, options),
    remove: (idOrName, request = {}, options) => command(idOrName, "remove", request, options),
    get: async (idOrName) => view(ports, await lookUp(ports, idOrName)),
    list: () => list(ports),
    operation: (id) => operation(ports, id),
    operations: (idOrName) => operations(ports, idOrName),
    events: (idOrName, range = {}) => events(ports, idOrName, range),
    guest: (idOrName) => guest(ports, idOrName),
    logs: (idOrName, limitBytes) => logs(ports, idOrName, limitBytes),
    imagesInUse: async () => new Set((await ports.store.listSandboxes()).map(({ image }) => image.digest)),
    idle: () => runner.idle(),
  };
}

async function create(ports: Ports, runner: Runner, request: CreateSandboxRequest, options: CallOptions): Promise<OperationAnswer> {
  await requireCapability(ports, "create");
  const resources = resolveResources(ports, request.resources);
  const sandboxId = ports.ids.next("sb");
  const name = request.name ?? generateName(sandboxId);
  // Looked up before anything is made; the store's unique index decides between two at the same instant.
  if ((await ports.store.findSandbox(name)) !== undefined) throw nameTaken(name);
  const image = await ports.images.find(request.image);
  if (image === undefined && request.pull === false) {
    throw new TorporError("image_not_found", `image ${request.image} is not here`, { hint: `torpor image pull ${request.image}` });
  }
  const born = await commitBirth(ports, {
    sandboxId,
    operationId: ports.ids.next("op"),
    actor: options.actor ?? "user",
    name,
    image: { reference: request.image, digest: image?.digest ?? "" },
    resources,
    env: request.env ?? {},
    workdir: request.workdir ?? null,
    user: request.user ?? null,
    network: request.network ?? "default",
    labels: request.labels ?? {},
    parentId: null,
    from: null,
    request,
  });
  return answer(ports, { sandboxId, operation: born.operation, ended: runner.run(born.sandbox, born.operation) }, options);
}

async function answer(ports: Ports, { sandboxId, operation: begun, ended }: Asking, { waitMs }: CallOptions): Promise<OperationAnswer> {
  if (ended !== undefined) await within(ports, ended, waitMs);
  const [record, sandbox] = await Promise.all([ports.store.findOperation(begun.id), ports.store.findSandbox(sandboxId)]);
  return { operation: operationView(record ?? begun), sandbox: sandbox === undefined ? null : await view(ports, sandbox) };
}

async function within(ports: Ports, ended: Promise<unknown>, waitMs: number | undefined): Promise<void> {
  if (waitMs === undefined) {
    await ended;
    return;
  }
  const abort = new AbortController();
  await Promise.race([ended, ports.clock.sleep(waitMs, abort.signal).catch(() => {})]);
  abort.abort();
}

async function view(ports: Ports, sandbox: SandboxRecord): Promise<Sandbox> {
  const active = sandbox.operationId === null ? undefined : await ports.store.findOperation(sandbox.operationId);
  return sandboxView(sandbox, active?.status === "running" ? active : undefined);
}

async function list(ports: Ports): Promise<Sandbox[]> {
  const [sandboxes, active] = await Promise.all([ports.store.listSandboxes(), ports.store.runningOperations()]);
  const byId = new Map(active.map((record) => [record.id, record]));
  return sandboxes.map((sandbox) => sandboxView(sandbox, sandbox.operationId === null ? undefined : byId.get(sandbox.operationId)));
}

async function operation(ports: Ports, id: string): Promise<Operation> {
  const record = await ports.store.findOperation(id);
  if (record === undefined) throw new TorporError("operation_not_found", `there is no operation ${id}`);
  return operationView(record);
}

async function operations(ports: Ports, idOrName: string): Promise<Operation[]> {
  const sandbox = await ports.store.findSandbox(idOrName);
  // The operations of a removed sandbox can still be read by its id.
  const records = await ports.store.listOperations(sandbox?.id ?? idOrName);
  if (sandbox === undefined && records.length === 0) throw notFound(idOrName);
  return records.map(operationView);
}

async function events(ports: Ports, idOrName: string, range: EventRange): Promise<Event[]> {
  const sandbox = await ports.store.findSandbox(idOrName);
  const found = await ports.store.listEvents({ ...range, sandboxId: sandbox?.id ?? idOrName });
  if (sandbox === undefined && found.length === 0 && (await ports.store.listOperations(idOrName)).length === 0) throw notFound(idOrName);
  return found;
}

async function guest(ports: Ports, idOrName: string): Promise<Guest> {
  const sandbox = await lookUp(ports, idOrName);
  const active = sandbox.operationId === null ? undefined : await ports.store.findOperation(sandbox.operationId);
  if (!isSettled(sandbox.state) && active !== undefined) throw busy(sandbox, active);
  if (sandbox.state !== "running" || sandbox.runtimeId === null) throw notRunning(sandbox);
  return ports.engine.guest(sandbox.runtimeId);
}

async function logs(ports: Ports, idOrName: string, limitBytes: number): Promise<string> {
  const sandbox = await lookUp(ports, idOrName);
  return sandbox.runtimeId === null ? "" : ports.engine.logs(sandbox.runtimeId, limitBytes);
}
