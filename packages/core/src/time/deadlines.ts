import { fromErrorBody } from "@torpor/contract";
import { ask, Overtaken } from "../commands.ts";
import type { Desk } from "../desk.ts";
import { describeError } from "../failure.ts";
import { Patience } from "../patience.ts";
import type { OperationRecord, SandboxRecord } from "../ports/store.ts";
import { Backoff } from "./backoff.ts";
import { type Deadline, nextDeadline } from "./deadline.ts";
import { Timers } from "./timers.ts";

/** What an ending that a timer asked for has in its request. */
export interface Timeout {
  readonly timeout: Deadline["cause"];
}

/**
 * Ends sandboxes when their time is over. The instants are in their records; here is only which of them to look at when. Each look reads the record
 * anew, and an ending begins on exactly the record that says that it is due. One that fails is tried again, after 1 s, 2 s and so on up to a minute.
 */
export class Deadlines {
  readonly #desk: Desk;
  readonly #timers: Timers;
  readonly #backoff = new Backoff();
  #open = false;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#timers = new Timers(desk.ports.clock, (sandboxId) => this.#look(sandboxId));
  }

  /** What became due meanwhile fires at once. */
  async open(): Promise<void> {
    this.#open = true;
    for (const sandbox of await this.#desk.ports.store.listSandboxes()) this.observe(sandbox);
  }

  close(): Promise<void> {
    return this.#timers.close();
  }

  /** The record as it was committed. */
  observe(sandbox: SandboxRecord): void {
    if (!this.#open) return;
    this.#desk.activity.observe(sandbox);
    const deadline = this.#deadlineOf(sandbox);
    if (deadline === undefined) this.#timers.clear(sandbox.id);
    else this.#timers.set(sandbox.id, deadline.atMs);
  }

  forget(sandboxId: string): void {
    this.#timers.clear(sandboxId);
    this.#backoff.clear(sandboxId);
    this.#desk.activity.forget(sandboxId);
  }

  async #look(sandboxId: string): Promise<void> {
    const { store, clock, log } = this.#desk.ports;
    try {
      const sandbox = await store.findSandbox(sandboxId);
      const deadline = sandbox && this.#deadlineOf(sandbox);
      if (sandbox === undefined || deadline === undefined) return;
      if (deadline.atMs <= this.#now) await this.#end(sandbox, deadline);
      else this.#lookAgain(sandboxId, deadline);
      this.#backoff.clear(sandboxId);
    } catch (error) {
      const pauseMs = this.#backoff.next(sandboxId);
      this.#timers.set(sandboxId, clock.now().getTime() + pauseMs);
      log.error("a sandbox whose time is over could not be ended: it is tried again", {
        sandbox: sandboxId,
        againInMs: pauseMs,
        cause: describeError(error),
      });
    }
  }

  /** It was used meanwhile, or its record has changed. */
  #lookAgain(sandboxId: string, { atMs }: Deadline): void {
    const { activity } = this.#desk;
    const recordAt = activity.nextRecord(sandboxId);
    if (recordAt !== undefined) activity.note(sandboxId);
    this.#timers.set(sandboxId, Math.min(atMs, recordAt ?? atMs));
  }

  async #end(sandbox: SandboxRecord, deadline: Deadline): Promise<void> {
    // The end of the operation at work is a commit, which is observed. Only a removal does not wait for it.
    if (sandbox.operationId !== null && deadline.command !== "remove") return;
    const ending = this.#desk.endings.announce(sandbox.id);
    try {
      const operation = await this.#begin(sandbox.id, deadline, (present) => this.#isDue(present, deadline), ending.began);
      // Whoever called it off has used the sandbox, and its time began anew with that.
      if (operation?.error != null && operation.error.code !== "operation_cancelled") throw fromErrorBody({ error: operation.error });
    } finally {
      ending.ended();
    }
  }

  async #begin(
    idOrName: string,
    { command, cause }: Deadline,
    still: (sandbox: SandboxRecord) => boolean,
    began: (giveUp: () => void) => void,
  ): Promise<OperationRecord | undefined> {
    const { ports, runner } = this.#desk;
    const request: Timeout & Record<string, unknown> = { timeout: cause, ...(command === "remove" ? { force: true } : {}) };
    const patience = new Patience(ports.clock, 0);
    try {
      const { operation, ended } = await ask(this.#desk, { idOrName, command, request, actor: "ttl", patience, keyFor: () => [], still });
      // A stop or removal can't be given up, and a stop would only be shortened by it.
      if (command === "pause") began(() => runner.cancel(operation.id, "use"));
      return await ended;
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      const sandbox = await ports.store.findSandbox(idOrName);
      if (sandbox !== undefined) this.observe(sandbox);
      return undefined;
    }
  }

  #isDue(sandbox: SandboxRecord, { cause }: Deadline): boolean {
    const deadline = this.#deadlineOf(sandbox);
    return deadline !== undefined && deadline.cause === cause && deadline.atMs <= this.#now;
  }

  #deadlineOf(sandbox: SandboxRecord): Deadline | undefined {
    return nextDeadline(sandbox, this.#desk.activity.lastUse(sandbox.id));
  }

  get #now(): number {
    return this.#desk.ports.clock.now().getTime();
  }
}
