import type { Operation, OperationAnswer, RouteName, Sandbox } from "@torpor/contract";
import { roomNames } from "./apart.ts";
import type { Waiting, WaitingForRoom } from "./call-options.ts";
import { createError } from "./errors.ts";
import { refuseUnknown } from "./refuse-unknown.ts";
import { sleep } from "./sleep.ts";
import { type CallRequest, type Transport, toError } from "./transport.ts";

/** Between two looks at an operation that takes longer than one call waits, in ms. */
const followMs = 1000;
/** Longest wait of one call, in ms. */
const longestWaitMs = 600_000;
/** Between two looks when somebody wants to know how far it is, in ms. */
const progressMs = 100;

type Outcome = Pick<OperationAnswer, "operation" | "sandbox">;

/** Operations of a daemon: the calls that begin one, and a look at those there are. */
export class OperationClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async get(oid: string, options: { readonly signal?: AbortSignal } = {}): Promise<Operation> {
    refuseUnknown(options, { signal: true });
    const { signal } = options;
    return this.#transport.json("getOperation", { params: { oid }, ...(signal === undefined ? {} : { signal }) });
  }

  /** Undoes an operation that has not gone too far; the answer has it as failed with `operation_cancelled`. */
  async cancel(oid: string, waiting: Pick<Waiting, "waitMs"> = {}): Promise<OperationAnswer> {
    refuseUnknown(waiting, { waitMs: true });
    return this.#transport.json("cancelOperation", { params: { oid }, query: { wait: waiting.waitMs } });
  }

  /** Those of one sandbox, newest first. */
  async list(sandbox: string): Promise<Operation[]> {
    return (await this.#transport.json<{ operations: Operation[] }>("listOperations", { params: { id: sandbox } })).operations;
  }

  /** Makes a call that begins an operation, waits for its end, and throws its error. */
  async change(name: RouteName, request: CallRequest, waiting: WaitingForRoom): Promise<OperationAnswer> {
    refuseUnknown(waiting, roomNames);
    const { waitMs, timeoutMs, waitCapacityMs, signal, onProgress } = waiting;
    const follower = new Follower(this, this.#transport, waiting);
    const atOnce = onProgress === undefined ? timeoutMs && Math.min(timeoutMs, longestWaitMs) : 0;
    const query = { ...request.query, wait: waitMs ?? atOnce, waitCapacity: waitCapacityMs };
    const answer = await this.#transport.json<OperationAnswer>(name, { ...request, query, ...(signal === undefined ? {} : { signal }) });
    if (waitMs !== undefined) return answer;
    const [first, ...siblings] = await Promise.all([answer, ...(answer.siblings ?? [])].map((one) => follower.end(one)));
    const ended = first as Outcome;
    const { error, id } = ended.operation;
    // Of several that one call began one has to be there; each tells of itself.
    if (error !== null && siblings.every(({ operation }) => operation.error !== null)) {
      throw toError({ ...error, details: { ...error.details, operationId: id } });
    }
    return { ...ended, ...(siblings.length === 0 ? {} : { siblings }) };
  }
}

/** Follows what takes longer than one call waits: a large image over a slow line. */
class Follower {
  readonly #operations: OperationClient;
  readonly #transport: Transport;
  readonly #waiting: Waiting;
  readonly #deadline: number;

  constructor(operations: OperationClient, transport: Transport, waiting: Waiting) {
    this.#operations = operations;
    this.#transport = transport;
    this.#waiting = waiting;
    this.#deadline = waiting.timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + waiting.timeoutMs;
  }

  async end({ operation: begun, sandbox }: Outcome): Promise<Outcome> {
    this.#waiting.onProgress?.(begun);
    // The answer to the call has the sandbox already when the operation had ended by then.
    if (begun.status !== "running") return { operation: begun, sandbox };
    let now = begun;
    while (now.status === "running") now = await this.#next(now);
    const gone = now.kind === "remove" || (now.kind === "create" && now.error !== null);
    return { operation: now, sandbox: gone ? null : await this.#sandboxOf(now) };
  }

  async #next(now: Operation): Promise<Operation> {
    const { signal, onProgress } = this.#waiting;
    const aborting = signal === undefined ? {} : { signal };
    const left = this.#deadline - performance.now();
    if (left <= 0) throw this.#late(now);
    await sleep(Math.min(left, onProgress === undefined ? followMs : progressMs), signal);
    const next = await this.#operations.get(now.id, aborting);
    if (next.phase !== now.phase || next.status !== now.status) onProgress?.(next);
    return next;
  }

  #sandboxOf({ sandboxId }: Operation): Promise<Sandbox> {
    return this.#transport.json("getSandbox", { params: { id: sandboxId } });
  }

  #late({ id, kind, phase }: Operation): Error {
    const { timeoutMs } = this.#waiting;
    return createError("timeout", `the ${kind} had not ended after ${timeoutMs} ms (it is at ${phase})`, {
      hint: `It goes on: operation ${id} tells how it ends.`,
      details: { operationId: id },
    });
  }
}
