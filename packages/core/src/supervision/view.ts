import type { Session, Supervision } from "@torpor/contract";
import type { GuestSession } from "../ports/guest.ts";
import type { SupervisedRecord } from "../ports/supervised-store.ts";

/** A session as clients see it. One that has no process yet in this runtime is made up from its record. */
export function viewOf(record: SupervisedRecord, session: GuestSession | undefined): Session;
export function viewOf(record: SupervisedRecord | undefined, session: GuestSession): Session;
export function viewOf(record: SupervisedRecord | undefined, session: GuestSession | undefined): Session {
  if (record === undefined) return session as GuestSession;
  return { ...(session ?? withoutProcess(record)), supervision: supervisionOf(record) };
}

function supervisionOf({ desired, state, attempt, restartedAt, nextAt, lastEnd, reason, policy }: SupervisedRecord): Supervision {
  return { desired, state, attempt, restarts: restartedAt.length, nextAt, lastEnd, reason, policy };
}

function withoutProcess({ id, start, lastSeq, createdAt }: SupervisedRecord): Session {
  return {
    id,
    argv: [...start.argv],
    pid: 0,
    terminal: start.terminal !== undefined,
    user: start.user ?? "",
    workdir: start.workdir ?? "",
    startedAt: createdAt,
    firstSeq: 0,
    lastSeq,
    size: start.terminal === undefined ? null : { rows: start.terminal.rows, columns: start.terminal.columns },
    end: null,
  };
}
