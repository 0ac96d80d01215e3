import { TorporError } from "@torpor/contract";
import { describeError } from "../failure.ts";
import type { Guest } from "../ports/guest.ts";
import type { Ports } from "../ports/ports.ts";
import { type SandboxRecord, StoreConflict } from "../ports/store.ts";
import type { SupervisedRecord } from "../ports/supervised-store.ts";
import { Timers } from "../time/timers.ts";
import { adopt } from "./adopt.ts";
import { judged, nextStep } from "./policy.ts";
import { begin, end, find, keep, seenOf } from "./processes.ts";
import { becomesReady } from "./readiness.ts";
import { Turns } from "./turns.ts";

/** After a guest or a store that failed. */
const againMs = 1000;
/** A guest that tells nonsense, such as a process that has ended and runs, must not keep the daemon busy: later, after so many steps at once. */
const mostSteps = 20;

/**
 * Keeps supervised sessions as they are wanted. What is wanted and what was is in their records, what is in the guest: each look reads both anew and
 * does the next step, so it does not matter what a look was for, or whether a daemon was killed in between.
 */
export class Supervisor {
  readonly #ports: Ports;
  readonly #turns = new Turns();
  readonly #timers: Timers;
  /** The runtime of each running sandbox, once its sessions were looked at. */
  readonly #runtimes = new Map<string, string>();
  /** Watched processes, by session. */
  readonly #watches = new Map<string, { readonly what: string; readonly over: AbortController }>();
  /** Sandboxes whose processes are being ended with them. */
  readonly #winding = new Set<string>();
  readonly #startErrors = new Map<string, TorporError>();
  readonly #closing = new AbortController();
  #open = false;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#timers = new Timers(ports.clock, (key) => this.#look(key));
  }

  async open(): Promise<void> {
    this.#open = true;
    for (const sandbox of await this.#ports.store.listSandboxes()) this.observe(sandbox);
  }

  async close(): Promise<void> {
    this.#open = false;
    this.#closing.abort();
    for (const { over } of this.#watches.values()) over.abort();
    await this.#timers.close();
    await this.#turns.idle();
  }

  /** The record as it was committed. */
  observe({ id, state, runtimeId, parentId }: SandboxRecord): void {
    if (!this.#open) return;
    if (state !== "running" || runtimeId === null) this.#runtimes.delete(id);
    else if (this.#runtimes.get(id) !== runtimeId) {
      this.#runtimes.set(id, runtimeId);
      this.#winding.delete(id);
      this.#lookAtAll(id, runtimeId, parentId).catch((error: unknown) => {
        this.#runtimes.delete(id);
        this.#tell(id, error);
      });
    }
  }

  forget(sandboxId: string): void {
    this.#runtimes.delete(sandboxId);
    this.#winding.delete(sandboxId);
  }

  /** Resolves when what could be done at once has been done. */
  look(sandboxId: string, id: string): Promise<void> {
    return this.#look(keyOf({ sandboxId, id }));
  }

  /** Writes down what is wanted, and does it. */
  async want(record: SupervisedRecord, change: (now: SupervisedRecord) => SupervisedRecord): Promise<void> {
    await this.#turns.take(keyOf(record), () => this.#change(record, change));
    await this.#look(keyOf(record));
  }

  /** It is no longer supervised. Its process is the caller's to have ended. */
  async drop(record: SupervisedRecord): Promise<void> {
    const key = keyOf(record);
    this.#watches.get(key)?.over.abort();
    this.#watches.delete(key);
    this.#timers.clear(key);
    await this.#turns.take(key, async () => {
      const { store } = this.#ports;
      const now = await store.findSupervised(record.sandboxId, record.id);
      if (now !== undefined) await store.commit({ endedSupervised: [now] });
    });
  }

  /** Why its last process could not be started, told once. */
  takeStartError(sandboxId: string, id: string): TorporError | undefined {
    const key = keyOf({ sandboxId, id });
    const error = this.#startErrors.get(key);
    this.#startErrors.delete(key);
    return error;
  }

  /** Before a sandbox's processes are ended with it: its sessions' end in their order, and their output is kept. */
  async windDown(sandboxId: string, guest: Guest, graceMs: number): Promise<void> {
    const records = await this.#ports.store.listSupervised(sandboxId);
    if (records.length === 0) return;
    this.#winding.add(sandboxId);
    const orders = [...new Set(records.map(({ policy }) => policy.stopOrder))].sort((a, b) => a - b);
    for (const order of orders) {
      const group = records.filter(({ policy }) => policy.stopOrder === order);
      await Promise.all(group.map((record) => this.#turns.take(keyOf(record), () => this.#windDownOne(record, guest, graceMs))));
    }
  }

  async #windDownOne(record: SupervisedRecord, guest: Guest, graceMs: number): Promise<void> {
    const { clock } = this.#ports;
    try {
      const session = await find(guest, record.id);
      if (session === undefined) return;
      if (session.lastEnd === null) await end(guest, session, { graceMs: Math.min(record.policy.stopGraceMs, graceMs), clock });
      const kept = await keep(guest, record.id);
      await this.#change(record, (now) => ({ ...now, ...kept, judged: session.attempt }));
    } catch (error) {
      this.#tell(record.sandboxId, error);
    }
  }

  async #lookAtAll(sandboxId: string, runtimeId: string, parentId: string | null): Promise<void> {
    const records = await this.#ports.store.listSupervised(sandboxId);
    const all = records.length === 0 && parentId !== null ? await adopt(this.#ports, { sandboxId, parentId, runtimeId }) : records;
    for (const record of all) void this.#look(keyOf(record));
  }

  async #look(key: string): Promise<void> {
    await this.#turns.take(key, async () => {
      try {
        for (let steps = 0; this.#open && (await this.#step(key)); steps++) {
          if (steps === mostSteps) return this.#timers.set(key, this.#now + againMs);
        }
      } catch (error) {
        const [sandboxId = ""] = key.split(" ");
        this.#timers.set(key, this.#now + againMs);
        this.#tell(sandboxId, error);
      }
    });
  }

  /** Whether there may be another one to be done at once. */
  async #step(key: string): Promise<boolean> {
    const { store, engine, clock } = this.#ports;
    const [sandboxId = "", id = ""] = key.split(" ");
    const record = await store.findSupervised(sandboxId, id);
    const sandbox = await store.findSandbox(sandboxId);
    if (record === undefined || sandbox?.state !== "running" || sandbox.runtimeId === null || this.#winding.has(sandboxId)) return false;
    const guest = await engine.guest(sandbox.runtimeId);
    const session = await find(guest, id);
    const seen = seenOf(session, sandbox.runtimeId);
    const step = nextStep(record, seen, this.#now);
    switch (step.kind) {
      case "rest":
        return false;
      case "wait":
        this.#timers.set(key, step.untilMs);
        return false;
      case "watch":
        this.#watch(key, record, guest);
        return false;
      case "stop":
        await end(guest, { id, attempt: seen.attempt }, { graceMs: record.policy.stopGraceMs, clock, left: this.#closing.signal });
        return true;
      case "start":
        await this.#start(record, step.attempt, seen.runtimeId, guest, session !== undefined);
        return true;
      case "change":
        await this.#change(record, () => ({ ...step.record, ...(session === undefined ? {} : { lastSeq: session.lastSeq }) }));
        return true;
    }
  }

  async #start(record: SupervisedRecord, attempt: number, runtimeId: string, guest: Guest, present: boolean): Promise<void> {
    const begun = await this.#change(record, (now) => ({ ...now, attempt, runtimeId, state: "starting", nextAt: null }));
    try {
      const session = await begin(guest, record, attempt, present);
      const state = record.policy.readiness === undefined ? ("ready" as const) : begun.state;
      await this.#change(begun, (now) => ({ ...now, state, lastSeq: session.lastSeq, journal: [] }));
    } catch (error) {
      if (!(error instanceof TorporError) || error.code !== "command_not_started") throw error;
      const exitCode = Number(error.details.exitCode ?? 127);
      const failure = { reason: "exited", exitCode, signal: null, oom: false } as const;
      this.#startErrors.set(keyOf(record), error);
      await this.#change(begun, (now) => ({ ...judged(now, attempt, failure, this.#now), reason: error.message }));
    }
  }

  /** Looks again when the process has ended; until it is ready, asks whether it is. */
  #watch(key: string, record: SupervisedRecord, guest: Guest): void {
    const what = `${record.runtimeId} ${record.attempt}`;
    const present = this.#watches.get(key);
    if (present?.what === what && !present.over.signal.aborted) return;
    present?.over.abort();
    const over = new AbortController();
    this.#watches.set(key, { what, over });
    const done = (): void => {
      if (over.signal.aborted) return;
      over.abort();
      if (this.#open) void this.#look(key);
    };
    guest.sessions.awaitEnd(record.id, record.attempt, over.signal).then(done, () => {
      // The runtime ended or was frozen, and then its next one is looked at; or only the line to it broke.
      if (!over.signal.aborted) this.#timers.set(key, this.#now + againMs);
      over.abort();
    });
    if (record.state === "starting") this.#awaitReady(record, guest, over.signal).catch(() => {});
  }

  async #awaitReady(record: SupervisedRecord, guest: Guest, signal: AbortSignal): Promise<void> {
    const { attempt, id } = record;
    const ready = await becomesReady(this.#ports, guest, record, signal);
    if (!ready) return guest.sessions.signal(id, "KILL");
    await this.#turns.take(keyOf(record), () =>
      this.#change(record, (now) => (now.attempt === attempt && now.state === "starting" ? { ...now, state: "ready" } : now)),
    );
  }

  /** Written over what is there now. */
  async #change(record: SupervisedRecord, change: (now: SupervisedRecord) => SupervisedRecord): Promise<SupervisedRecord> {
    const { store } = this.#ports;
    for (;;) {
      const now = await store.findSupervised(record.sandboxId, record.id);
      if (now === undefined) return record;
      const changed = change(now);
      if (changed === now) return now;
      try {
        // What somebody wants meanwhile stands.
        await store.commit({ supervised: [{ ...changed, version: now.version }] });
        return { ...changed, version: now.version + 1 };
      } catch (error) {
        if (!(error instanceof StoreConflict)) throw error;
      }
    }
  }

  get #now(): number {
    return this.#ports.clock.now().getTime();
  }

  #tell(sandboxId: string, error: unknown): void {
    if (error instanceof TorporError && quiet.has(error.code)) return;
    this.#ports.log.error("a supervised session could not be looked after: it is tried again", {
      sandbox: sandboxId,
      cause: describeError(error),
    });
  }
}

/** What a sandbox answers that is being paused or stopped, or has just been. */
const quiet: ReadonlySet<string> = new Set(["session_paused", "sandbox_not_running", "operation_active", "timeout"]);

const keyOf = ({ sandboxId, id }: Pick<SupervisedRecord, "sandboxId" | "id">): string => `${sandboxId} ${id}`;
