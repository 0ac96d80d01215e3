import { TorporError } from "@torpor/contract";
import type { Clock } from "../ports/clock.ts";
import type { Guest, GuestSession, JournalFrame } from "../ports/guest.ts";
import type { StoredFrame, SupervisedRecord } from "../ports/supervised-store.ts";
import type { Seen } from "./policy.ts";

/** Of a former runtime's output so much is kept, in bytes: the newest. */
const keptBytes = 256 * 1024;
/** Numbers of a runtime whose last ones are not known end before the next multiple of this. */
const epoch = 2 ** 32;

export async function find(guest: Guest, id: string): Promise<GuestSession | undefined> {
  try {
    return await guest.sessions.get(id);
  } catch (error) {
    if (error instanceof TorporError && error.code === "session_not_found") return undefined;
    throw error;
  }
}

export function seenOf(session: GuestSession | undefined, runtimeId: string): Seen {
  if (session === undefined) return { runtimeId, process: "none", attempt: 0, end: null };
  const { attempt, lastEnd } = session;
  return { runtimeId, process: lastEnd === null ? "running" : "ended", attempt, end: lastEnd };
}

/** Begins a process in the journal that there is, or in one that goes on from what is known of the last one. */
export function begin(guest: Guest, record: SupervisedRecord, attempt: number, present: boolean): Promise<GuestSession> {
  const { id, start, journal } = record;
  const former = present ? { after: 0, journal: [] } : { after: afterOf(record), journal: journal.map(restored) };
  return guest.sessions.start({ ...start, argv: [...start.argv], sessionId: id, hold: false, supervised: { attempt, ...former } });
}

interface Ending {
  readonly graceMs: number;
  readonly clock: Clock;
  /** Gives the wait up. */
  readonly left?: AbortSignal;
}

/** TERM, and KILL after the grace. */
export async function end(
  guest: Guest,
  { id, attempt }: Pick<GuestSession, "id" | "attempt">,
  { graceMs, clock, left }: Ending,
): Promise<void> {
  const over = new AbortController();
  const giveUp = (): void => over.abort();
  left?.addEventListener("abort", giveUp);
  const ended = guest.sessions.awaitEnd(id, attempt, over.signal);
  try {
    await signal(guest, id, "TERM");
    const inTime = await Promise.race([ended.then(() => true), clock.sleep(graceMs, over.signal).then(() => false)]);
    if (!inTime) await signal(guest, id, "KILL");
    await ended;
  } finally {
    left?.removeEventListener("abort", giveUp);
    over.abort();
    ended.catch(() => {});
  }
}

async function signal(guest: Guest, id: string, name: string): Promise<void> {
  try {
    await guest.sessions.signal(id, name);
  } catch (error) {
    if (!(error instanceof TorporError) || error.code !== "session_ended") throw error;
  }
}

type Kept = Pick<SupervisedRecord, "lastSeq" | "journal" | "lastEnd">;

/** What is to be kept of a session whose runtime is about to end. */
export async function keep(guest: Guest, id: string): Promise<Kept> {
  const session = await guest.sessions.get(id);
  const { lastSeq, lastEnd } = session;
  const journal: StoredFrame[] = [];
  let bytes = 0;
  for await (const frame of framesOf(guest, session)) {
    const stored = toStored(frame);
    journal.push(stored);
    bytes += stored[2].length;
    while (bytes > keptBytes && journal.length > 1) bytes -= (journal.shift() as StoredFrame)[2].length;
  }
  return { lastSeq, lastEnd, journal };
}

/** All that is there of its output now. */
async function* framesOf(guest: Guest, { id, firstSeq, lastSeq }: GuestSession): AsyncGenerator<JournalFrame> {
  if (lastSeq === 0) return;
  const left = new AbortController();
  try {
    for await (const frame of guest.sessions.attach(id, Math.max(0, firstSeq - 1), false, left.signal)) {
      if (frame.type !== "output" && frame.type !== "mark") continue;
      yield frame;
      if (frame.seq >= lastSeq) return;
    }
  } finally {
    left.abort();
  }
}

function afterOf({ attempt, lastSeq, journal }: SupervisedRecord): number {
  if (attempt === 0) return 0;
  return journal.length > 0 ? lastSeq : (Math.floor(lastSeq / epoch) + 1) * epoch;
}

function toStored(frame: JournalFrame): StoredFrame {
  return frame.type === "mark" ? [frame.seq, "mark", JSON.stringify(frame.mark)] : [frame.seq, frame.stream, toBase64(frame.data)];
}

function restored([seq, stream, data]: StoredFrame): JournalFrame {
  if (stream === "mark") return { type: "mark", seq, mark: JSON.parse(data) };
  return { type: "output", seq, stream, data: Uint8Array.from(atob(data), (character) => character.charCodeAt(0)) };
}

/** In pieces: an argument list has a limit. */
function toBase64(data: Uint8Array): string {
  let text = "";
  for (let at = 0; at < data.length; at += 8192) text += String.fromCharCode(...data.subarray(at, at + 8192));
  return btoa(text);
}
