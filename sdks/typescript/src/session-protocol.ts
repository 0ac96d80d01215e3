import type { ErrorBody, Session, SessionEnd, SessionMark, TerminalSize } from "@torpor/contract";
import { frameKinds } from "@torpor/contract/frame";

// Runs in a browser too: no import of Node.js here. What the frames mean stands in the contract's frame.ts.

export type ServerFrame =
  | { readonly type: "started"; readonly session: Session }
  | { readonly type: "output"; readonly seq: number; readonly stream: "stdout" | "stderr" | "terminal"; readonly data: Uint8Array }
  | { readonly type: "mark"; readonly seq: number; readonly mark: SessionMark }
  | { readonly type: "live" }
  | { readonly type: "inputTaken"; readonly taken: number }
  | { readonly type: "resized"; readonly size: TerminalSize }
  | { readonly type: "end"; readonly end: SessionEnd }
  | { readonly type: "error"; readonly error: ErrorBody["error"] };

const streams = { [frameKinds.stdout]: "stdout", [frameKinds.stderr]: "stderr", [frameKinds.terminal]: "terminal" } as const;

/** What a message of the server says; undefined: a kind that a newer server has. Output is a view of the message, not a copy. */
export function decodeFrame(message: Uint8Array): ServerFrame | undefined {
  const kind = message[0];
  switch (kind) {
    case frameKinds.stdout:
    case frameKinds.stderr:
    case frameKinds.terminal:
      return { type: "output", seq: readNumber(message), stream: streams[kind], data: message.subarray(9) };
    case frameKinds.mark:
      return { type: "mark", seq: readNumber(message), mark: readJson(message, 9) as SessionMark };
    case frameKinds.started:
      return { type: "started", session: readJson(message, 1) as Session };
    case frameKinds.live:
      return { type: "live" };
    case frameKinds.inputTaken:
      return { type: "inputTaken", taken: readNumber(message) };
    case frameKinds.resized:
      return { type: "resized", size: readJson(message, 1) as TerminalSize };
    case frameKinds.end:
      return { type: "end", end: readJson(message, 1) as SessionEnd };
    case frameKinds.error:
      return { type: "error", error: (readJson(message, 1) as ErrorBody).error };
    default:
      return undefined;
  }
}

/** Input of a client that does not come back. */
export function encodeStdin(data: Uint8Array): Uint8Array {
  return join(frameKinds.stdin, data);
}

/** Input of a client with an id; `position` is where its first byte stands in all that the client has sent. */
export function encodeInput(position: number, data: Uint8Array): Uint8Array {
  const message = new Uint8Array(9 + data.length);
  message[0] = frameKinds.input;
  new DataView(message.buffer).setBigUint64(1, BigInt(position));
  message.set(data, 9);
  return message;
}

export function encodeStdinEnd(): Uint8Array {
  return Uint8Array.of(frameKinds.stdinEnd);
}

export function encodeResize({ rows, columns }: TerminalSize): Uint8Array {
  return join(frameKinds.resize, new TextEncoder().encode(JSON.stringify({ rows, columns })));
}

export function encodeSignal(signal: string): Uint8Array {
  return join(frameKinds.signal, new TextEncoder().encode(JSON.stringify({ signal })));
}

function join(kind: number, payload: Uint8Array): Uint8Array {
  const message = new Uint8Array(1 + payload.length);
  message[0] = kind;
  message.set(payload, 1);
  return message;
}

function readNumber(message: Uint8Array): number {
  return Number(new DataView(message.buffer, message.byteOffset, message.byteLength).getBigUint64(1));
}

function readJson(message: Uint8Array, from: number): unknown {
  return JSON.parse(new TextDecoder().decode(message.subarray(from)));
}
