import type { WebSocket } from "@fastify/websocket";
import { closeCodes, frameKinds, SignalRequest, TerminalSize, TorporError } from "@torpor/contract";
import type { GuestSessions } from "@torpor/core";
import type { z } from "zod";
import { InputQueue } from "./input-queue.ts";
import { encodeNumber } from "./session-frames.ts";

/** Bytes that may wait for the process before the client is held up. */
const waitingBytes = 1024 * 1024;

export interface InputOptions {
  readonly sessions: GuestSessions;
  readonly sessionId: string;
  /** The client that counts its own input; undefined: one that does not come back. */
  readonly client: string | undefined;
  /** The same client, or a name for this connection: each one's input is counted for itself, so that none takes another's for a repeat. */
  readonly name: string;
  readonly writes: boolean;
  /** When its process has ended, input waits for the next one. */
  readonly supervised: boolean;
  readonly resized: (size: TerminalSize) => void;
}

/**
 * What a client sends to a session. Input waits for the process: beyond `waitingBytes` the socket is not read any more, so
 * the client's own writes block. Signals and sizes then wait too; a client that must not wait sends them as calls.
 */
export class SessionInput {
  readonly #socket: WebSocket;
  readonly #options: InputOptions;
  readonly #queue: InputQueue;
  #open = false;
  #busy = false;

  constructor(socket: WebSocket, options: InputOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#queue = new InputQueue(options.client === undefined ? 0 : undefined);
    socket.on("message", (data, isBinary) => this.#take(data as Buffer, isBinary));
  }

  /** The process runs, or the next one does: what came early goes to it now. A client that counts is told what has arrived of an earlier connection. */
  open(): void {
    this.#open = true;
    if (this.#options.client !== undefined && this.#options.writes) this.#tellTaken().catch(() => {});
    this.#write();
  }

  /** Messages come as one Buffer: ws splits them only when told to. */
  #take(message: Buffer, isBinary: boolean): void {
    const objection = this.#options.writes
      ? this.#handle(isBinary ? message[0] : undefined, message)
      : "this connection only reads (mode=read)";
    if (objection !== undefined) this.#refuse(objection);
  }

  /** What is wrong with the message, if anything. */
  #handle(kind: number | undefined, message: Buffer): string | undefined {
    const payload = message.subarray(1);
    const { sessions, sessionId, resized } = this.#options;
    switch (kind) {
      case frameKinds.stdin:
        return this.#options.client === undefined ? this.#give(undefined, payload) : "a client with an id sends input with its position";
      case frameKinds.input:
        if (this.#options.client === undefined || payload.length < 8) return "input with a position is for a client with an id";
        return this.#give(Number(payload.readBigUInt64BE(0)), payload.subarray(8));
      case frameKinds.stdinEnd:
        this.#queue.end();
        return this.#write();
      case frameKinds.resize:
        return tell(TerminalSize, payload, async (size) => {
          await sessions.resize(sessionId, size.rows, size.columns);
          resized(size);
        });
      case frameKinds.signal:
        return tell(SignalRequest, payload, ({ signal }) => sessions.signal(sessionId, signal));
      default:
        return `a message of kind ${kind ?? "text"} is not one that a client sends`;
    }
  }

  #give(position: number | undefined, data: Buffer): string | undefined {
    const objection = this.#queue.add(position, data);
    if (objection !== undefined) return objection;
    if (this.#queue.bytes > waitingBytes) this.#socket.pause();
    return this.#write();
  }

  /** One write at a time, each with all that has come meanwhile. */
  #write(): undefined {
    if (!this.#open || this.#busy || this.#queue.isEmpty) return;
    this.#busy = true;
    this.#writeAll().catch((error: unknown) => this.#drop(error));
  }

  async #writeAll(): Promise<void> {
    const { sessions, sessionId, name, client } = this.#options;
    let ended = false;
    while (!ended && !this.#queue.isEmpty) {
      const piece = this.#queue.take();
      ended = piece.end;
      const taken = await sessions.write(sessionId, { client: name, ...piece }).catch((error: unknown) => {
        this.#queue.putBack(piece);
        throw error;
      });
      if (client !== undefined) this.#socket.send(encodeNumber(frameKinds.inputTaken, taken));
      this.#resume();
    }
    this.#busy = ended;
  }

  async #tellTaken(): Promise<void> {
    const { sessions, sessionId, name } = this.#options;
    const taken = await sessions.write(sessionId, { client: name, offset: 0, data: new Uint8Array(0), end: false });
    this.#socket.send(encodeNumber(frameKinds.inputTaken, taken));
  }

  /** The process takes no more input: it closed it or ended. What still comes is read and dropped, as a shell's pipe would. */
  #drop(error: unknown): void {
    if (error instanceof TorporError && error.code === "invalid_request") this.#refuse(error.message);
    if (this.#options.supervised && error instanceof TorporError && error.code === "session_ended") {
      this.#open = false;
      this.#busy = false;
      return;
    }
    this.#socket.removeAllListeners("message");
    this.#socket.on("message", () => {});
    this.#resume();
  }

  #resume(): void {
    if (this.#socket.isPaused) this.#socket.resume();
  }

  /** The process goes on. */
  #refuse(reason: string): void {
    this.#socket.close(closeCodes.refused, reason.slice(0, 100));
    this.#resume();
  }
}

function tell<S extends z.ZodType>(schema: S, payload: Buffer, call: (value: z.output<S>) => Promise<void>): string | undefined {
  const parsed = schema.safeParse(parse(payload));
  if (!parsed.success) return "the message's JSON is not valid";
  // A call may fail since the session has ended meanwhile: its end is on the way to the client.
  call(parsed.data).catch(() => {});
  return undefined;
}

function parse(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined;
  }
}
