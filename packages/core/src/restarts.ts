import type { RestartPolicy } from "@torpor/contract";
import { ask } from "./commands.ts";
import type { Desk } from "./desk.ts";
import { describeError } from "./failure.ts";
import { Patience } from "./patience.ts";
import type { RuntimeEnd } from "./ports/engine.ts";
import type { OperationRecord, SandboxRecord } from "./ports/store.ts";

const firstPauseMs = 1000;
const longestPauseMs = 60_000;
/** A runtime that lived so long did work: the pauses begin anew. */
const livedMs = 60_000;

interface Due {
  /** The operation by which it came to rest; another one since, and it is not due any more. */
  readonly since: string;
  /** 1 for the first of several in a row. */
  readonly attempt: number;
  readonly reason: string;
}

/**
 * Starts sandboxes anew whose runtime ended, if they are set to that, with growing pauses. Whether one is due is read from its operations each
 * time, so it outlives the daemon.
 */
export class Restarts {
  readonly #desk: Desk;
  readonly #considered = new Set<string>();

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** For the daemon's start. */
  async considerAll(): Promise<void> {
    for (const { id } of await this.#desk.ports.store.listSandboxes()) this.consider(id);
  }

  /** A runtime of it may have ended. */
  consider(sandboxId: string): void {
    if (this.#considered.has(sandboxId)) return;
    this.#considered.add(sandboxId);
    this.#restart(sandboxId)
      .catch((error: unknown) =>
        this.#desk.ports.log.error("a sandbox could not be started anew", { sandbox: sandboxId, cause: describeError(error) }),
      )
      .finally(() => this.#considered.delete(sandboxId));
  }

  async #restart(sandboxId: string): Promise<void> {
    const { clock } = this.#desk.ports;
    for (let due = await this.#due(sandboxId); due !== undefined; due = await this.#due(sandboxId)) {
      await clock.sleep(Math.min(firstPauseMs * 2 ** (due.attempt - 1), longestPauseMs));
      if ((await this.#due(sandboxId))?.since !== due.since) continue;
      const request = { restart: { attempt: due.attempt, reason: due.reason } };
      // Where there is no room now it is started when there is.
      const asking = await this.#desk.room.enter(new Patience(clock, undefined), () =>
        ask(this.#desk, {
          idOrName: sandboxId,
          command: "start",
          request,
          actor: "recovery",
          patience: new Patience(clock, 0),
          keyFor: () => [],
        }),
      );
      await asking.ended;
    }
  }

  async #due(sandboxId: string): Promise<Due | undefined> {
    const { store } = this.#desk.ports;
    const sandbox = await store.findSandbox(sandboxId);
    if (sandbox === undefined || !isAtRest(sandbox)) return undefined;
    const operations = await store.listOperations(sandboxId);
    const [last] = operations;
    if (last === undefined || !asksForIt(sandbox, last)) return undefined;
    return { since: last.id, attempt: 1 + restartsInARow(operations), reason: sandbox.failure?.message ?? "its first process ended" };
  }
}

function isAtRest({ restart, state, operationId, checkpoint, damage }: SandboxRecord): boolean {
  const set: RestartPolicy = restart ?? "never";
  return (
    set !== "never" && damage === undefined && (state === "failed" || state === "stopped") && operationId === null && checkpoint === null
  );
}

/** What a user ended stays ended. */
function asksForIt({ restart }: SandboxRecord, { kind, status, request }: OperationRecord): boolean {
  if (kind === "start") return status === "failed" && request.restart !== undefined;
  if (kind === "pause" || kind === "fork" || kind === "snapshot") return status === "failed";
  const end = kind === "stop" ? (request.end as RuntimeEnd | undefined) : undefined;
  if (end === undefined) return false;
  return restart === "always" || !(end.reason === "exited" && end.exitCode === 0);
}

/** Of the newest operations first; a runtime that lived long ends the row. */
function restartsInARow(operations: readonly OperationRecord[]): number {
  let count = 0;
  let endedMs: number | undefined;
  for (const { kind, request, startedAt, endedAt } of operations) {
    if (kind === "start" && request.restart !== undefined) {
      if (endedMs !== undefined && endedAt !== null && endedMs - Date.parse(endedAt) >= livedMs) return count;
      count++;
      endedMs = undefined;
    } else if (kind === "stop" && request.end !== undefined) endedMs = Date.parse(startedAt);
    else return count;
  }
  return count;
}
