import { type Session, TorporError } from "@torpor/contract";
import type { GuestSessions } from "@torpor/core";
import { markLive, type ReaderFrame } from "./session-frames.ts";

export interface Reading {
  readonly sessions: GuestSessions;
  readonly sid: string;
  readonly after: number;
  readonly hold: boolean;
  readonly client: string | undefined;
}

/** Refuses what would be refused by a frame, as long as it can be a plain answer. */
export async function checkReading({ sessions, sid, after }: Reading): Promise<Session> {
  const session = await sessions.get(sid);
  const { lastSeq } = session;
  if (after + 1 < oldestOf(session)) throw gone(session, after);
  if (after > lastSeq) {
    throw new TorporError("invalid_request", `session ${sid} has no output ${after} yet: its newest is ${lastSeq}`, {
      hint: `Attach with after=${lastSeq} or less.`,
      details: { newest: lastSeq },
    });
  }
  return session;
}

/** Frames after a sequence number, and where they become live. A reader that was too slow is told what there still is. */
export async function* readSession(reading: Reading, left: AbortSignal): AsyncGenerator<ReaderFrame> {
  const { sessions, sid, after, hold, client } = reading;
  let seen = after;
  try {
    for await (const frame of markLive(sessions.attach(sid, after, hold, left, client), after)) {
      if (frame.type === "output" || frame.type === "mark") seen = frame.seq;
      yield frame;
    }
  } catch (error) {
    if (!(error instanceof TorporError) || error.code !== "session_output_gone") throw error;
    throw gone(await sessions.get(sid), seen);
  }
}

function oldestOf({ firstSeq, lastSeq }: Session): number {
  return firstSeq === 0 ? lastSeq + 1 : firstSeq;
}

function gone(session: Session, after: number): TorporError {
  const oldest = oldestOf(session);
  return new TorporError(
    "session_output_gone",
    `output after ${after} of session ${session.id} is no longer kept: the oldest is ${oldest}`,
    {
      hint: `Attach with after=${oldest - 1}; what was before it is lost.`,
      details: { oldest, after },
    },
  );
}
