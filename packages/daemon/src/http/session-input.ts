import type { WebSocket } from "@fastify/websocket";
import { frameKinds, SignalRequest, TerminalSize } from "@torpor/contract";
import type { GuestSessions } from "@torpor/core";
import type { z } from "zod";

/** Bytes that may wait for the process before the client is held up. */
const waitingBytes = 1024 * 1024;

const nothing = new Uint8Array(0);

/**
 * What a client sends to a session. Input waits for the process: beyond `waitingBytes` the socket is not read any more, so
 * the client's own writes block. Signals and sizes then wait too; a client that must not wait sends them as calls.
 */
export class SessionInput {
  readonly #socket: WebSocket;
  readonly #sessions: GuestSessions;
  readonly #sessionId: string;
  /** Position of the next byte; undefined until the guest has told where the input stands. */
  #offset: number | undefined;
  #chunks: Uint8Array[] = [];
  #chunkBytes = 0;
  #eof = false;
  #open = false;
  #busy = false;

  constructor(socket: WebSocket, sessions: GuestSessions, sessionId: string, offset: number | undefined) {
    this.#socket = socket;
    this.#sessions = sessions;
    this.#sessionId = sessionId;
    this.#offset = offset;
    socket.on("message", (data, isBinary) => this.#take(data as Buffer, isBinary));
  }

  /** The process runs: what came early goes to it now. */
  open(): void {
    this.#open = true;
    this.#write();
  }

  /** Messages come as one Buffer: ws splits them only when told to. */
  #take(message: Buffer, isBinary: boolean): void {
    const payload = message.subarray(1);
    switch (isBinary ? message[0] : undefined) {
      case frameKinds.stdin:
        this.#queue(payload);
        break;
      case frameKinds.stdinEnd:
        this.#eof = true;
        this.#write();
        break;
      case frameKinds.resize:
        this.#tell(TerminalSize, payload, ({ rows, columns }) => this.#sessions.resize(this.#sessionId, rows, columns));
        break;
      case frameKinds.signal:
        this.#tell(SignalRequest, payload, ({ signal }) => this.#sessions.signal(this.#sessionId, signal));
        break;
      default:
        this.#refuse(`a ${isBinary ? "binary" : "text"} message of kind ${message[0]} is not one that a client sends`);
    }
  }

  #queue(payload: Buffer): void {
    if (this.#eof) {
      this.#refuse("input came after its end");
      return;
    }
    this.#chunks.push(payload);
    this.#chunkBytes += payload.length;
    if (this.#chunkBytes > waitingBytes) this.#socket.pause();
    this.#write();
  }

  /** One write at a time, each with all that has come meanwhile. */
  #write(): void {
    if (!this.#open || this.#busy || (this.#chunks.length === 0 && !this.#eof)) return;
    this.#busy = true;
    this.#writeAll().catch(() => this.#drop());
  }

  async #writeAll(): Promise<void> {
    let ended = false;
    while (!ended && (this.#chunks.length > 0 || this.#eof)) {
      const data = this.#chunks.length === 1 ? (this.#chunks[0] as Uint8Array) : Buffer.concat(this.#chunks);
      ended = this.#eof;
      this.#chunks = [];
      this.#chunkBytes = 0;
      this.#offset ??= await this.#sessions.write(this.#sessionId, 0, nothing, false);
      await this.#sessions.write(this.#sessionId, this.#offset, data, ended);
      this.#offset += data.length;
      this.#resume();
    }
    this.#busy = ended;
  }

  /** The process takes no more input: it closed it or ended. What still comes is read and dropped, as a shell's pipe would. */
  #drop(): void {
    this.#chunks = [];
    this.#socket.removeAllListeners("message");
    this.#socket.on("message", () => {});
    this.#resume();
  }

  #resume(): void {
    if (this.#socket.isPaused) this.#socket.resume();
  }

  #tell<S extends z.ZodType>(schema: S, payload: Buffer, call: (value: z.output<S>) => Promise<void>): void {
    const parsed = schema.safeParse(parse(payload));
    // A call may fail since the session has ended meanwhile: its end is on the way to the client.
    if (parsed.success) call(parsed.data).catch(() => {});
    else this.#refuse("the message's JSON is not valid");
  }

  #refuse(reason: string): void {
    // 1008: policy violation. The process goes on.
    this.#socket.close(1008, reason);
  }
}

function parse(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined;
  }
}
