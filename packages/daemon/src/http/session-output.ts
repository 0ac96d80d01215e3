import type { WebSocket } from "@fastify/websocket";
import { closeCodes, frameKinds, type SessionEnd, TorporError, toErrorBody } from "@torpor/contract";
import { closeCodeOf, encodeFrame, encodeJson, type ReaderFrame } from "./session-frames.ts";

/** Bytes that may wait in the socket before the next frame is fetched: enough to keep it busy, too few to matter. */
const waitingBytes = 512 * 1024;

/** A terminal that takes nothing for so long is in front of nobody: a laptop that was closed, a tab that was put to sleep. Its process does not wait longer. */
const stalledMs = 60_000;

/** Sends a session's frames to the client, at the client's pace, and closes after the last one. */
export async function pumpFrames(socket: WebSocket, frames: AsyncIterable<ReaderFrame>, started: () => void): Promise<void> {
  let limitMs: number | undefined;
  for await (const frame of endedByClosing(frames)) {
    if (socket.readyState !== socket.OPEN) return;
    if (frame.type === "end") return finish(socket, encodeFrame(frame), closeCodeOf(frame.end));
    limitMs ??= limitOf(frame);
    await give(socket, frame, limitMs);
    if (frame.type === "started" || (frame.type === "mark" && frame.mark.pid !== null)) started();
  }
  if (socket.readyState === socket.OPEN) throw new TorporError("internal", "the session's output broke off without an end");
}

/** What goes through pipes may be read by whoever pages through it, and is waited for without a limit. */
function limitOf(frame: ReaderFrame): number | undefined {
  return frame.type === "started" && frame.session.terminal ? stalledMs : undefined;
}

async function give(socket: WebSocket, frame: ReaderFrame, limitMs: number | undefined): Promise<void> {
  if (frame.type === "output") await sendPaced(socket, encodeFrame(frame), limitMs);
  else socket.send(encodeFrame(frame));
}

export function sendError(socket: WebSocket, error: TorporError): void {
  finish(socket, encodeJson(frameKinds.error, toErrorBody(error)), closeCodes.failed);
}

/** A line to the guest that was closed is an end with that reason, not a failure. */
export async function* endedByClosing(frames: AsyncIterable<ReaderFrame>): AsyncGenerator<ReaderFrame> {
  try {
    yield* frames;
  } catch (error) {
    const end = endOf(error);
    if (end === undefined) throw error;
    yield { type: "end", end };
  }
}

function finish(socket: WebSocket, frame: Buffer, code: number): void {
  if (socket.readyState !== socket.OPEN) return;
  socket.send(frame);
  socket.close(code);
  // Input that held the client up is read away, so that its half of the closing is seen.
  if (socket.isPaused) socket.resume();
}

const closings: readonly unknown[] = ["paused", "stopped", "lost"] satisfies SessionEnd["reason"][];

function endOf(error: unknown): SessionEnd | undefined {
  if (!(error instanceof TorporError) || !closings.includes(error.details.reason)) return undefined;
  return { reason: error.details.reason as SessionEnd["reason"], exitCode: null, signal: null, oom: false };
}

/** Waits only when the client does not keep up: a wait for each small frame would cost a turn of the loop. */
async function sendPaced(socket: WebSocket, frame: Buffer, limitMs: number | undefined): Promise<void> {
  if (socket.bufferedAmount + frame.length <= waitingBytes) {
    socket.send(frame);
    return;
  }
  const cutOff = limitMs === undefined ? undefined : setTimeout(() => socket.terminate(), limitMs);
  // The callback comes with an error when the client has gone; the loop's abort signal ends it then.
  await new Promise<void>((resolve) => socket.send(frame, () => resolve()));
  clearTimeout(cutOff);
}
