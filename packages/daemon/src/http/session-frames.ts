import { closeCodes, frameKinds, type SessionEnd } from "@torpor/contract";
import type { SessionFrame } from "@torpor/core";

/** What a reader of a session is told. */
export type ReaderFrame = SessionFrame | { readonly type: "live" };

/** Says between the frames where what was there before ends; `after` as undefined: all of it is new. */
export async function* markLive(frames: AsyncIterable<SessionFrame>, after: number | undefined): AsyncGenerator<ReaderFrame> {
  let behind = 0;
  let live = false;
  for await (const frame of frames) {
    yield frame;
    if (live || frame.type === "end") continue;
    if (frame.type === "started") behind = after === undefined ? 0 : frame.session.lastSeq;
    live = seqOf(frame, after ?? 0) >= behind;
    if (live) yield { type: "live" };
  }
}

function seqOf(frame: Exclude<SessionFrame, { type: "end" }>, after: number): number {
  return frame.type === "started" ? after : frame.seq;
}

const kinds = { stdout: frameKinds.stdout, stderr: frameKinds.stderr, terminal: frameKinds.terminal };

export function encodeFrame(frame: ReaderFrame): Buffer {
  switch (frame.type) {
    case "started":
      return encodeJson(frameKinds.started, frame.session);
    case "output":
      return encodeNumber(kinds[frame.stream], frame.seq, frame.data);
    case "mark":
      return encodeNumber(frameKinds.mark, frame.seq, Buffer.from(JSON.stringify(frame.mark)));
    case "live":
      return Buffer.of(frameKinds.live);
    case "end":
      return encodeJson(frameKinds.end, frame.end);
  }
}

export function encodeNumber(kind: number, number: number, data: Uint8Array = new Uint8Array(0)): Buffer {
  const frame = Buffer.allocUnsafe(9 + data.length);
  frame[0] = kind;
  frame.writeBigUInt64BE(BigInt(number), 1);
  frame.set(data, 9);
  return frame;
}

export function encodeJson(kind: number, value: unknown): Buffer {
  return Buffer.concat([Buffer.of(kind), Buffer.from(JSON.stringify(value))]);
}

/** What the connection is closed with after the end frame. */
export function closeCodeOf({ reason }: SessionEnd): number {
  return reason === "paused" || reason === "stopped" || reason === "lost" ? closeCodes[reason] : closeCodes.ended;
}
