import type { WebSocket } from "@fastify/websocket";
import { frameKinds, type SessionEnd, TorporError, toErrorBody } from "@torpor/contract";
import type { SessionFrame } from "@torpor/core";

/** Bytes that may wait in the socket before the next frame is fetched: enough to keep it busy, too few to matter. */
const waitingBytes = 512 * 1024;
/** Normal closure: the last frame says how the session ended. */
const closeNormal = 1000;

const outputKinds = { stdout: frameKinds.stdout, stderr: frameKinds.stderr, terminal: frameKinds.terminal };

/** Sends a session's frames to the client, at the client's pace, and closes after the last one. */
export async function pumpFrames(socket: WebSocket, frames: AsyncIterable<SessionFrame>, started: () => void): Promise<void> {
  try {
    for await (const frame of frames) {
      if (frame.type === "started") {
        socket.send(encodeJson(frameKinds.started, frame.session));
        started();
      } else if (frame.type === "output") {
        await sendPaced(socket, encodeOutput(outputKinds[frame.stream], frame.seq, frame.data));
      } else {
        sendEnd(socket, frame.end);
        return;
      }
    }
  } catch (error) {
    if (socket.readyState !== socket.OPEN) return;
    const end = endOf(error);
    if (end === undefined) throw error;
    sendEnd(socket, end);
    return;
  }
  if (socket.readyState === socket.OPEN) throw new TorporError("internal", "the session's output broke off without an end");
}

export function sendError(socket: WebSocket, error: TorporError): void {
  finish(socket, encodeJson(frameKinds.error, toErrorBody(error)));
}

function sendEnd(socket: WebSocket, end: SessionEnd): void {
  finish(socket, encodeJson(frameKinds.end, end));
}

function finish(socket: WebSocket, frame: Buffer): void {
  socket.send(frame);
  socket.close(closeNormal);
  // Input that held the client up is read away, so that its half of the closing is seen.
  if (socket.isPaused) socket.resume();
}

const closings: readonly unknown[] = ["paused", "stopped", "lost"] satisfies SessionEnd["reason"][];

/** A line to the guest that was closed is an end with that reason, not a failure. */
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

function encodeOutput(kind: number, seq: number, data: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(9 + data.length);
  frame[0] = kind;
  frame.writeBigUInt64BE(BigInt(seq), 1);
  frame.set(data, 9);
  return frame;
}

function encodeJson(kind: number, value: unknown): Buffer {
  return Buffer.concat([Buffer.of(kind), Buffer.from(JSON.stringify(value))]);
}
