import type { Clock } from "../ports/clock.ts";
import type { SandboxRecord } from "../ports/store.ts";
import type { LastUse } from "./deadline.ts";

interface Entry {
  /** Calls and streams that are open. */
  holds: number;
  lastMs: number;
  idleMs: number | null;
  recordedMs: number;
}

/**
 * When sandboxes were used last: by a command, a session, a port or a file call. What is open counts as use all the time. Kept in memory, and
 * recorded no more often than a tenth of `idleMs` passes (at least a second, at most a minute), so that a use costs no write, and a restart
 * of the daemon ends none earlier than by that.
 */
export class Activity {
  readonly #clock: Clock;
  readonly #record: (sandboxId: string, atMs: number) => Promise<void>;
  readonly #recording = new Set<Promise<void>>();
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock, record: (sandboxId: string, atMs: number) => Promise<void>) {
    this.#clock = clock;
    this.#record = record;
  }

  /** The record as it was committed. */
  observe({ id, idleMs, lastActiveAt }: SandboxRecord): void {
    const entry = this.#entry(id);
    entry.idleMs = idleMs ?? null;
    if (lastActiveAt != null) entry.recordedMs = Math.max(entry.recordedMs, Date.parse(lastActiveAt));
  }

  forget(sandboxId: string): void {
    this.#entries.delete(sandboxId);
  }

  note(sandboxId: string): void {
    const entry = this.#entry(sandboxId);
    entry.lastMs = this.#clock.now().getTime();
    if (entry.idleMs === null || entry.lastMs - entry.recordedMs < shareOf(entry.idleMs)) return;
    entry.recordedMs = entry.lastMs;
    const recording = this.#record(sandboxId, entry.lastMs).finally(() => this.#recording.delete(recording));
    this.#recording.add(recording);
  }

  /** Resolves when nothing is being recorded. */
  async idle(): Promise<void> {
    await Promise.all(this.#recording);
  }

  /** It is used until the given function is called. */
  hold(sandboxId: string): () => void {
    this.note(sandboxId);
    const entry = this.#entry(sandboxId);
    entry.holds++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      entry.holds--;
      // One that was removed meanwhile is not known any more.
      if (this.#entries.get(sandboxId) === entry) this.note(sandboxId);
    };
  }

  lastUse(sandboxId: string): LastUse {
    const entry = this.#entries.get(sandboxId);
    if (entry === undefined) return undefined;
    return entry.holds > 0 ? this.#clock.now().getTime() : entry.lastMs;
  }

  /** When to look again at one that is used all the time, so that it is recorded. undefined: it isn't. */
  nextRecord(sandboxId: string): number | undefined {
    const entry = this.#entries.get(sandboxId);
    if (entry === undefined || entry.holds === 0 || entry.idleMs === null) return undefined;
    return this.#clock.now().getTime() + shareOf(entry.idleMs);
  }

  #entry(sandboxId: string): Entry {
    const present = this.#entries.get(sandboxId);
    if (present !== undefined) return present;
    const entry: Entry = { holds: 0, lastMs: 0, idleMs: null, recordedMs: 0 };
    this.#entries.set(sandboxId, entry);
    return entry;
  }
}

function shareOf(idleMs: number): number {
  return Math.min(Math.max(idleMs / 10, 1000), 60_000);
}
