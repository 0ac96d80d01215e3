import type { IncomingMessage } from "node:http";
import type { Session, SessionEnd, StartSessionRequest } from "@torpor/contract";
import { frameKinds } from "@torpor/contract/frame";
import { WebSocket } from "ws";
import { unreachable } from "./endpoint.ts";
import { createError } from "./errors.ts";
import { errorOf, parseError, type Transport } from "./transport.ts";

export type ServerFrame =
  | { readonly type: "started"; readonly session: Session }
  | { readonly type: "output"; readonly seq: number; readonly stream: "stdout" | "stderr" | "terminal"; readonly data: Uint8Array }
  | { readonly type: "end"; readonly end: SessionEnd };

/** Bytes of output that may wait for the reader; then the connection is not read, and the process waits. */
const waitingBytes = 1024 * 1024;

const streams = { [frameKinds.stdout]: "stdout", [frameKinds.stderr]: "stderr", [frameKinds.terminal]: "terminal" } as const;

/** A session over its connection: frames to read, input to write. Closing it leaves the process running. */
export class SessionStream implements AsyncIterable<ServerFrame> {
  readonly #socket: WebSocket;
  #frames: ServerFrame[] = [];
  #bytes = 0;
  #failure: Error | undefined;
  #closed = false;
  #wake: () => void = () => {};

  /** Connects; with `start` the session is started by the first message. */
  static open(transport: Transport, path: string, start?: StartSessionRequest): Promise<SessionStream> {
    const { address, headers, createConnection } = transport.socketAddress(path);
    const socket = new WebSocket(address, {
      headers,
      perMessageDeflate: false,
      ...(createConnection === undefined ? {} : { createConnection }),
    });
    return new Promise((resolve, reject) => {
      const stream = new SessionStream(socket);
      transport.open.add(stream);
      socket.once("close", () => transport.open.delete(stream));
      socket.once("open", () => {
        if (start !== undefined) socket.send(JSON.stringify(start));
        resolve(stream);
      });
      // A refusal is a plain answer, in place of the WebSocket.
      socket.once("unexpected-response", (_request, answer: IncomingMessage) => {
        errorOf(answer).then(reject, reject);
      });
      socket.once("error", (error) => reject(unreachable(transport.endpoint, error)));
    });
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => this.#take(data as Buffer));
    socket.on("error", (error) => {
      this.#failure ??= createError("daemon_unreachable", `the connection to torpord broke: ${error.message}`, {
        hint: "The command goes on; torpor logs shows its output.",
      });
    });
    socket.on("close", () => {
      this.#closed = true;
      this.#wake();
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ServerFrame> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) {
        this.#took(frame);
        yield frame;
        if (frame.type === "end") return;
      } else if (this.#failure !== undefined) {
        throw this.#failure;
      } else if (this.#closed) {
        throw createError("daemon_unreachable", "the connection to torpord broke off before the command's end", {
          hint: "The command goes on unless torpord ended it; torpor logs shows its output.",
        });
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  /** Resolves when the connection took the bytes: wait for it before the next, and memory stays bounded. */
  write(data: Uint8Array): Promise<void> {
    return this.#send(frameKinds.stdin, data);
  }

  /** The end of the input; output goes on. */
  end(): Promise<void> {
    return this.#send(frameKinds.stdinEnd, new Uint8Array(0));
  }

  resize(rows: number, columns: number): Promise<void> {
    return this.#send(frameKinds.resize, Buffer.from(JSON.stringify({ rows, columns })));
  }

  signal(signal: string): Promise<void> {
    return this.#send(frameKinds.signal, Buffer.from(JSON.stringify({ signal })));
  }

  close(): void {
    this.#socket.terminate();
  }

  #send(kind: number, payload: Uint8Array): Promise<void> {
    const message = Buffer.allocUnsafe(1 + payload.length);
    message[0] = kind;
    message.set(payload, 1);
    // After the session's end nobody wants input: the frames tell of the end, or of the failure.
    return new Promise((resolve) => this.#socket.send(message, () => resolve()));
  }

  #take(message: Buffer): void {
    const kind = message[0];
    if (kind === frameKinds.error) {
      this.#failure = parseError(message.toString("utf8", 1)) ?? createError("internal", "torpord sent an error that can't be read");
    } else {
      const frame = decode(kind, message);
      if (frame !== undefined) this.#frames.push(frame);
      this.#bytes += message.length;
      if (this.#bytes > waitingBytes) this.#socket.pause();
    }
    this.#wake();
  }

  #took(frame: ServerFrame): void {
    // The same count as #take's, or nearly: only output has a size that matters.
    this.#bytes -= frame.type === "output" ? frame.data.length + 9 : 0;
    if (this.#frames.length === 0) this.#bytes = 0;
    if (this.#socket.isPaused && this.#bytes <= waitingBytes / 2) this.#socket.resume();
  }
}

/** Undefined: a kind that a newer daemon has. */
function decode(kind: number | undefined, message: Buffer): ServerFrame | undefined {
  if (kind === frameKinds.started) return { type: "started", session: JSON.parse(message.toString("utf8", 1)) as Session };
  if (kind === frameKinds.end) return { type: "end", end: JSON.parse(message.toString("utf8", 1)) as SessionEnd };
  const stream = streams[kind as keyof typeof streams];
  return stream === undefined ? undefined : { type: "output", seq: Number(message.readBigUInt64BE(1)), stream, data: message.subarray(9) };
}
