import { TorporError } from "@torpor/contract";
import type { GuestSessions, Ids, Once } from "@torpor/core";
import { setLatest } from "../set-latest.ts";
import { sessionIdOf } from "./once.ts";

export interface KeyedStart<T> {
  readonly sandbox: string;
  readonly sessions: GuestSessions;
  readonly once: Once | undefined;
  /** undefined: not known before it has started. */
  readonly argv: readonly string[] | undefined;
  readonly start: (sessionId: string) => Promise<T>;
  /** What it gave the first time. */
  readonly again: (sessionId: string) => Promise<T>;
}

/** So many calls' requests are remembered. */
const remembered = 10_000;

/**
 * Starts a session once a key. The guest, which outlives daemons and pauses, refuses a second session under the id that the key gives; what
 * else was asked under it is known here for calls of this daemon, and by the command for earlier ones. Looking through the guest's
 * sessions first instead would cost each call 2.4 ms (of 10), measured with 64 ended ones.
 */
export class SessionKeys {
  readonly #ids: Ids;
  readonly #fingerprints = new Map<string, string>();

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  async start<T>(call: KeyedStart<T>): Promise<T> {
    const { once, sandbox, start } = call;
    if (once === undefined) return start(this.#ids.next("se"));
    const sessionId = sessionIdOf(once.key);
    const place = `${sandbox} ${sessionId}`;
    // Before it is begun, for those who come meanwhile. What a killed daemon began has none: there the first who asks again sets it.
    if (!this.#fingerprints.has(place)) this.#remember(place, once.fingerprint);
    try {
      const given = await start(sessionId);
      this.#remember(place, once.fingerprint);
      return given;
    } catch (error) {
      if (!(error instanceof TorporError) || error.code !== "idempotency_conflict") throw error;
      if (!(await this.#isSame(place, once, call, sessionId))) throw conflict(once.key, sessionId);
      return call.again(sessionId);
    }
  }

  async #isSame<T>(place: string, { fingerprint }: Once, { sessions, argv }: KeyedStart<T>, sessionId: string): Promise<boolean> {
    const session = await sessions.get(sessionId);
    if (argv !== undefined && JSON.stringify(session.argv) !== JSON.stringify(argv)) return false;
    return this.#fingerprints.get(place) === fingerprint;
  }

  #remember(place: string, fingerprint: string): void {
    setLatest(this.#fingerprints, place, fingerprint, remembered);
  }
}

function conflict(key: string, session: string): TorporError {
  return new TorporError("idempotency_conflict", `the idempotency key ${key} came with another request before (session ${session})`, {
    hint: "use a new key for a new request",
    details: { session },
  });
}
