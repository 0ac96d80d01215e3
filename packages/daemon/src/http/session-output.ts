import type { WebSocket } from "@fastify/websocket";
import { closeCodes, frameKinds, type SessionEnd, TorporError, toErrorBody } from "@torpor/contract";
import { closeCodeOf, encodeFrame, encodeJson, type ReaderFrame } from "./session-frames.ts";

/** Bytes that may wait in the socket before the next frame is fetched: enough to keep it busy, too few to matter. */
const waitingBytes = 512 * 1024;

/** Sends a session's frames to the client, at the client's pace, and closes after the last one. */
export async function pumpFrames(socket: WebSocket, frames: AsyncIterable<ReaderFrame>, started: () => void): Promise<void> {
  for await (const frame of endedByClosing(frames)) {
    if (socket.readyState !== socket.OPEN) return;
    if (frame.type === "end") return finish(socket, encodeFrame(frame), closeCodeOf(frame.end));
    if (frame.type === "output") await sendPaced(socket, encodeFrame(frame));
    else socket.send(encodeFrame(frame));
    if (frame.type === "started" || (frame.type === "mark" && frame.mark.pid !== null)) started();
  }
  if (socket.readyState === socket.OPEN) throw new TorporError("internal", "the session's output broke off without an end");
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
async function sendPaced(socket: WebSocket, frame: Buffer): Promise<void> {
  if (socket.bufferedAmount + frame.length <= waitingBytes) {
    socket.send(frame);
    return;
  }
  // The callback comes with an error when the client has gone; the loop's abort signal ends it then.
  await new Promise<void>((resolve) => socket.send(frame, () => resolve()));
}
