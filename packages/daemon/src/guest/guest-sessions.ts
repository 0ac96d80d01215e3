import { createClient, type Transport } from "@connectrpc/connect";
import type { Http2SessionManager } from "@connectrpc/connect-node";
import type { SessionEnd } from "@torpor/contract";
import { SessionMark, TorporError } from "@torpor/contract";
import type { GuestSessions, JournalFrame, GuestSession as KnownSession, SessionFrame, SessionStart } from "@torpor/core";
import { directStream } from "./direct-stream.ts";
import { fromGuestError, type LineState, refuseIfClosed } from "./guest-error.ts";
import { olderInput } from "./older-input.ts";
import {
  type AttachResponse,
  type End,
  EndReason,
  type Session as GuestSession,
  Sessions,
  Stream,
} from "./protocol/torpor/guest/v1/guest_pb.ts";

export function createGuestSessions(transport: Transport, manager: Http2SessionManager, line: LineState): GuestSessions {
  const client = createClient(Sessions, transport);
  const guarded = async <T>(call: () => Promise<T>): Promise<T> => {
    refuseIfClosed(line);
    try {
      return await call();
    } catch (error) {
      throw fromGuestError(error, line, "session");
    }
  };

  async function* frames(open: () => AsyncIterable<AttachResponse>): AsyncGenerator<SessionFrame> {
    refuseIfClosed(line);
    try {
      yield* untilEnd(open()[Symbol.asyncIterator]());
    } catch (error) {
      throw fromGuestError(error, line, "session");
    }
  }

  const write: GuestSessions["write"] = (sessionId, { client: name, offset, data, end }) =>
    guarded(async () => Number((await client.write({ sessionId, client: name, offset: BigInt(offset), data, eof: end })).offset));
  const older = olderInput((sessionId, offset, data, end) => write(sessionId, { client: "", offset, data, end }));

  return {
    run: (start, signal) => frames(() => directStream(manager, Sessions.method.run, toRequest(start), signal)),
    attach: (sessionId, after, hold, signal, reader = "") =>
      frames(() => directStream(manager, Sessions.method.attach, { sessionId, after: BigInt(after), hold, client: reader }, signal)),
    start: (start) => guarded(async () => toSession((await client.start(toRequest(start))).session)),
    write: (sessionId, input) => (line.protocol === 1 ? older : write)(sessionId, input),
    resize: (sessionId, rows, columns) => guarded(async () => void (await client.resize({ sessionId, rows, columns }))),
    signal: (sessionId, signal) => guarded(async () => void (await client.signal({ sessionId, signal }))),
    get: (sessionId) => guarded(async () => toSession(await client.get({ sessionId }))),
    list: () => guarded(async () => (await client.list({})).sessions.map(toSession)),
    awaitEnd: (sessionId, attempt, signal) =>
      guarded(async () => toSession(await client.await({ sessionId, attempt }, signal === undefined ? {} : { signal }))),
    remove: (sessionId, force) => guarded(async () => void (await client.remove({ sessionId, force }))),
  };
}

/** Frames up to the end. A consumer that leaves before breaks the call off. */
async function* untilEnd(messages: AsyncIterator<AttachResponse>): AsyncGenerator<SessionFrame> {
  let over = false;
  try {
    for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
      const frame = toFrame(next.value.event);
      if (frame?.type === "end") {
        // The last message: the call ends by itself. Breaking it off instead would cost an abort, half a millisecond of each short command.
        over = true;
        messages.next().catch(() => {});
        yield frame;
        return;
      }
      if (frame !== undefined) {
        yield frame;
      }
    }
    over = true;
  } finally {
    if (!over) {
      messages.return?.().catch(() => {});
    }
  }
}

function toRequest(start: SessionStart) {
  return {
    sessionId: start.sessionId,
    argv: start.argv,
    env: start.env ?? {},
    workdir: start.workdir ?? "",
    user: start.user ?? "",
    stdin: start.stdin ?? false,
    ...(start.terminal === undefined
      ? {}
      : { terminal: { rows: start.terminal.rows, columns: start.terminal.columns, term: start.terminal.term ?? "" } }),
    timeoutMs: BigInt(start.timeoutMs ?? 0),
    hold: start.hold,
    journalBytes: BigInt(start.journalBytes ?? 0),
    keepMs: BigInt(start.keepMs ?? 0),
    ...supervision(start),
  };
}

function supervision({ supervised }: SessionStart) {
  if (supervised === undefined) return {};
  const { attempt, after, journal } = supervised;
  return { supervised: true, attempt, after: BigInt(after), journal: journal.map(toOutput) };
}

function toOutput(frame: JournalFrame) {
  const seq = BigInt(frame.seq);
  if (frame.type === "mark") return { seq, stream: Stream.MARK, data: Buffer.from(JSON.stringify(frame.mark)) };
  return { seq, stream: { stdout: Stream.STDOUT, stderr: Stream.STDERR, terminal: Stream.TERMINAL }[frame.stream], data: frame.data };
}

const streams: Readonly<Record<number, "stdout" | "stderr" | "terminal">> = {
  [Stream.STDOUT]: "stdout",
  [Stream.STDERR]: "stderr",
  [Stream.TERMINAL]: "terminal",
};

function toFrame(event: AttachResponse["event"]): SessionFrame | undefined {
  switch (event.case) {
    case "started":
      return { type: "started", session: toSession(event.value) };
    case "output":
      if (event.value.stream === Stream.MARK) return toMark(Number(event.value.seq), event.value.data);
      return { type: "output", seq: Number(event.value.seq), stream: streams[event.value.stream] ?? "stdout", data: event.value.data };
    case "end":
      return { type: "end", end: toEnd(event.value) };
    default:
      return undefined; // of a newer guest
  }
}

/** A guest that marks otherwise has been replaced by something: its frame keeps its number, and says nothing. */
function toMark(seq: number, data: Uint8Array): SessionFrame {
  const parsed = SessionMark.safeParse(parseJson(data));
  if (parsed.success) return { type: "mark", seq, mark: parsed.data };
  return { type: "output", seq, stream: "stderr", data: new Uint8Array(0) };
}

function parseJson(data: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(data).toString());
  } catch {
    return undefined;
  }
}

function toSession(session: GuestSession | undefined): KnownSession {
  if (session === undefined) {
    throw new TorporError("internal", "the guest answered without a session");
  }
  return {
    id: session.id,
    argv: session.argv,
    pid: session.pid,
    terminal: session.terminal,
    user: session.user,
    workdir: session.workdir,
    startedAt: new Date(Number(session.startedUnixNanos / 1_000_000n)).toISOString(),
    firstSeq: Number(session.firstSeq),
    lastSeq: Number(session.lastSeq),
    size: session.size === undefined ? null : { rows: session.size.rows, columns: session.size.columns },
    end: session.end === undefined ? null : toEnd(session.end),
    attempt: session.attempt,
    lastEnd: session.lastEnd === undefined ? null : toEnd(session.lastEnd),
  };
}

const reasons: Readonly<Record<number, SessionEnd["reason"]>> = {
  [EndReason.EXITED]: "exited",
  [EndReason.TIMEOUT]: "timeout",
  [EndReason.OOM]: "oom",
  [EndReason.KILLED]: "killed",
  [EndReason.STOPPED]: "stopped",
};

function toEnd(end: End): SessionEnd {
  return { reason: reasons[end.reason] ?? "exited", exitCode: end.exitCode, signal: end.signal === "" ? null : end.signal, oom: end.oom };
}
