import { type Event, type EventPage, TorporError } from "@torpor/contract";
import { Sight } from "../access/teams.ts";
import { notFound } from "../lifecycle/refusals.ts";
import type { Ports } from "../ports/ports.ts";
import { isOfTypes } from "./matching.ts";

export interface EventFilter {
  /** Id or name; of a removed one its id. */
  readonly sandbox?: string;
  /** Only of what a team sees. Of a sandbox that was removed before the reading began nobody knows whose it was. */
  readonly team?: string;
  /** Types, or beginnings of types with `*` at their end. Default all. */
  readonly types?: readonly string[];
}

/** Events in their order; none when it was quiet for a while. */
export interface Batch {
  readonly events: readonly Event[];
  /** Everything up to here was looked at: reading on from here misses nothing and repeats nothing. */
  readonly cursor: number;
}

/** Readers wait for commits of this process; others', and a notice that was lost, are seen so late at most. */
const quietMs = 10_000;
const batchSize = 200;
const defaultLimit = 1000;
const readerLimit = 256;

/** Events of a store, as a list and as they come. Each reader holds one batch in memory, however slow it is. */
export class EventFeed {
  readonly #ports: Pick<Ports, "store" | "clock">;
  readonly #waiting = new Set<() => void>();
  #commits = 0;
  #readers = 0;

  constructor(ports: Pick<Ports, "store" | "clock">) {
    this.#ports = ports;
  }

  /** There may be new ones. */
  announce(): void {
    this.#commits++;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Readers at this moment, and those of them that wait. */
  get load(): { readonly readers: number; readonly waiting: number } {
    return { readers: this.#readers, waiting: this.#waiting.size };
  }

  /** Those after a seq; from the oldest that is kept without one. */
  async list(filter: EventFilter, { after, limit = defaultLimit }: { after?: number; limit?: number }): Promise<EventPage> {
    const sandboxId = await this.#sandboxId(filter);
    const sight = await this.#sight(filter);
    const events: Event[] = [];
    let cursor = await this.#start(sandboxId, after ?? 0);
    while (events.length < limit) {
      const batch = await this.#read(filter, { sandboxId, sight }, cursor, limit - events.length);
      events.push(...batch.events);
      const atEnd = batch.cursor === cursor;
      cursor = batch.cursor;
      if (atEnd) break;
    }
    return { events, next: cursor };
  }

  /** Those after a seq as they come, until the signal; from now on without one. The first batch comes at once, and may be empty. */
  async *follow(filter: EventFilter, { after, signal }: { after?: number; signal: AbortSignal }): AsyncGenerator<Batch> {
    if (this.#readers >= readerLimit)
      throw new TorporError("too_many_streams", `${readerLimit} readers follow events already`, {
        hint: "End some of them, or retry later.",
      });
    this.#readers++;
    try {
      const sandboxId = await this.#sandboxId(filter);
      const sight = await this.#sight(filter);
      let cursor = after === undefined ? (await this.#ports.store.eventBounds()).newest : await this.#start(sandboxId, after);
      yield { events: [], cursor };
      while (!signal.aborted) {
        const commits = this.#commits;
        const batch = await this.#read(filter, { sandboxId, sight }, cursor, batchSize);
        const isNews = batch.events.length > 0;
        const atEnd = batch.cursor === cursor;
        cursor = batch.cursor;
        if (isNews) yield batch;
        else if (atEnd && (await this.#quiet(signal, commits))) yield { events: [], cursor };
      }
    } finally {
      this.#readers--;
    }
  }

  /** Where reading begins; refuses what can't be continued. */
  async #start(sandboxId: string | undefined, after: number): Promise<number> {
    const { store } = this.#ports;
    const { lost, newest } = await store.eventBounds(sandboxId);
    // Zero stands for the oldest that is kept.
    if (after === 0) return lost;
    if (lost > after) throw gone(after, lost);
    if (after <= newest) return after;
    throw new TorporError("invalid_request", `after ${after}: the newest event has the number ${newest}`, {
      hint: "A number comes from an event of this very store; 0 reads all that are kept.",
      details: { after, newest },
    });
  }

  async #read({ types }: EventFilter, { sandboxId, sight }: Scope, after: number, limit: number): Promise<Batch> {
    const { store } = this.#ports;
    // Before the events: all up to there are visible by then, those of others that are passed over too.
    const { newest } = await store.eventBounds();
    const found = await store.listEvents({ after, limit, ...(sandboxId === undefined ? {} : { sandboxId }) });
    // After them: what was deleted meanwhile was not missed unknowingly.
    const { lost } = await store.eventBounds(sandboxId);
    if (lost > after) throw gone(after, lost);
    const last = found.at(-1)?.seq ?? after;
    return {
      events: await seenBy(sight, types === undefined ? found : found.filter(({ type }) => isOfTypes(type, types))),
      cursor: found.length < limit ? Math.max(last, newest) : last,
    };
  }

  async #sight({ team }: EventFilter): Promise<Sight | undefined> {
    if (team === undefined) return undefined;
    const sight = new Sight(this.#ports.store, team);
    await sight.lookAround();
    return sight;
  }

  async #sandboxId({ sandbox }: EventFilter): Promise<string | undefined> {
    if (sandbox === undefined) return undefined;
    const { store } = this.#ports;
    const found = await store.findSandbox(sandbox);
    if (found !== undefined) return found.id;
    const known = (await store.listEvents({ sandboxId: sandbox, limit: 1 })).length + (await store.listOperations(sandbox)).length;
    if (known === 0) throw notFound(sandbox);
    return sandbox;
  }

  /** Waits for a commit or the end; true: nothing came for a while. */
  #quiet(signal: AbortSignal, commits: number): Promise<boolean> {
    if (signal.aborted || this.#commits !== commits) return Promise.resolve(false);
    return new Promise((resolve) => {
      const over = new AbortController();
      const done = (quiet: boolean): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        over.abort();
        resolve(quiet);
      };
      const wake = (): void => done(false);
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
      this.#ports.clock.sleep(quietMs, over.signal).then(
        () => done(true),
        () => {},
      );
    });
  }
}

interface Scope {
  readonly sandboxId: string | undefined;
  readonly sight: Sight | undefined;
}

async function seenBy(sight: Sight | undefined, events: readonly Event[]): Promise<readonly Event[]> {
  if (sight === undefined) return events;
  const seen: Event[] = [];
  for (const event of events) if (await sight.sees(event.sandboxId)) seen.push(event);
  return seen;
}

function gone(after: number, lost: number): TorporError {
  return new TorporError("events_gone", `events after ${after} are no longer kept: the oldest after which none is missing is ${lost}`, {
    hint: `Read on after ${lost}, and look at the sandboxes themselves for what was missed.`,
    details: { after, oldest: lost },
  });
}
