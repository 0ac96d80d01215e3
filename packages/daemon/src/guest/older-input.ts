import type { GuestSessions, SessionInput } from "@torpor/core";

/** Gives bytes at a position of a session's whole input; with none it tells the position. */
type Write = (sessionId: string, offset: number, data: Uint8Array, end: boolean) => Promise<number>;

/**
 * Input for a guest of protocol 1, which lives on in checkpoints: it counts a session's input as one. What each client has given is counted here,
 * so a repeat after a cut is not typed twice as long as this daemon lives.
 */
export function olderInput(write: Write): GuestSessions["write"] {
  const taken = new Map<string, number>();
  const turns = new Map<string, Promise<unknown>>();
  const writeOne = async (sessionId: string, { client, offset, data, end }: SessionInput): Promise<number> => {
    const place = `${sessionId} ${client}`;
    const known = taken.get(place) ?? 0;
    const fresh = data.subarray(Math.min(data.length, Math.max(0, known - offset)));
    if (fresh.length > 0 || end) await write(sessionId, await write(sessionId, 0, new Uint8Array(0), false), fresh, end);
    taken.set(place, known + fresh.length);
    return known + fresh.length;
  };
  // One after the other: between the look at the position and the write nobody else may move it.
  return async (sessionId, input) => {
    const turn = (turns.get(sessionId) ?? Promise.resolve()).then(() => writeOne(sessionId, input));
    const settled = turn.catch(() => {});
    turns.set(sessionId, settled);
    try {
      return await turn;
    } finally {
      if (turns.get(sessionId) === settled) turns.delete(sessionId);
    }
  };
}
