import { TorporError } from "@torpor/contract";
import type { GuestSessions, Ids, Once } from "@torpor/core";
import { sessionIdOf, sessionIdStart } from "./once.ts";

/** Starts a session by its id, or finds the one that the same call has started already. */
export async function startOnce<T>(
  sessions: GuestSessions,
  { once, ids }: { readonly once: Once | undefined; readonly ids: Ids },
  start: (sessionId: string) => Promise<T>,
  again: (sessionId: string) => Promise<T>,
): Promise<T> {
  if (once === undefined) return start(ids.next("se"));
  const sessionId = sessionIdOf(once);
  const earlier = (await sessions.list()).find(({ id }) => id.startsWith(sessionIdStart(once.key)));
  if (earlier !== undefined && earlier.id !== sessionId) {
    throw new TorporError(
      "idempotency_conflict",
      `the idempotency key ${once.key} came with another request before (session ${earlier.id})`,
      {
        hint: "use a new key for a new request",
        details: { session: earlier.id },
      },
    );
  }
  if (earlier !== undefined) return again(sessionId);
  try {
    return await start(sessionId);
  } catch (error) {
    // The same call, sent twice at once: the guest lets one of them through.
    if (error instanceof TorporError && error.code === "idempotency_conflict") return again(sessionId);
    throw error;
  }
}
