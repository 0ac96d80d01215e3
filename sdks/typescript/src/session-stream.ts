import type { IncomingMessage } from "node:http";
import type { StartSessionRequest } from "@torpor/contract";
import { WebSocket } from "ws";
import { unreachable } from "./endpoint.ts";
import { createError } from "./errors.ts";
import { FrameQueue } from "./frame-queue.ts";
import type { InputCarrier } from "./numbered-input.ts";
import { decodeFrame, encodeInput, encodeResize, encodeSignal, encodeStdin, encodeStdinEnd, type ServerFrame } from "./session-protocol.ts";
import { errorOf, type Transport, toError } from "./transport.ts";

/** What a session tells its reader. */
export type SessionFrame = Exclude<ServerFrame, { type: "error" | "inputTaken" }>;

/** A session over one connection: frames to read, input to write. Closing it leaves the process running. */
export class SessionStream implements AsyncIterable<SessionFrame>, InputCarrier {
  readonly #socket: WebSocket;
  readonly #frames: FrameQueue<SessionFrame>;
  #failure: Error | undefined;
  taken: number | undefined;
  over = false;
  onChange: (() => void) | undefined;

  /** Connects; with `start` the session is started by the first message. */
  static open(transport: Transport, path: string, start?: StartSessionRequest): Promise<SessionStream> {
    const socket = openSocket(transport, path);
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
        errorOf(answer, transport.endpoint).then(reject, reject);
      });
      socket.once("error", (error) => reject(unreachable(transport.endpoint, error)));
    });
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.#frames = new FrameQueue((held) => (held ? socket.pause() : socket.resume()));
    socket.on("message", (data) => this.#take(data as Buffer));
    socket.on("error", (error) => {
      this.#failure ??= createError("connection_lost", `the connection to torpord broke: ${error.message}`, {
        hint: "The command goes on; torpor attach shows its output.",
      });
    });
    socket.on("close", () => {
      this.#frames.finish();
      this.onChange?.();
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SessionFrame> {
    for await (const frame of this.#frames) {
      yield frame;
      if (frame.type === "end") return;
    }
    throw (
      this.#failure ??
      createError("connection_lost", "the connection to torpord broke off before the command's end", {
        hint: "The command goes on unless torpord ended it; torpor attach shows its output.",
      })
    );
  }

  /** Resolves when the connection took the bytes: wait for it before the next, and memory stays bounded. */
  write(data: Uint8Array): Promise<void> {
    return this.#send(encodeStdin(data));
  }

  /** Input of a client that comes back: `position` is where its first byte stands in all that it has sent. */
  writeAt(position: number, data: Uint8Array): Promise<void> {
    return this.#send(encodeInput(position, data));
  }

  /** The end of the input; output goes on. */
  end(): Promise<void> {
    return this.#send(encodeStdinEnd());
  }

  resize(rows: number, columns: number): Promise<void> {
    return this.#send(encodeResize({ rows, columns }));
  }

  signal(signal: string): Promise<void> {
    return this.#send(encodeSignal(signal));
  }

  close(): void {
    this.#socket.terminate();
  }

  #send(message: Uint8Array): Promise<void> {
    // After the session's end nobody wants input: the frames tell of the end, or of the failure.
    return new Promise((resolve) => this.#socket.send(message, () => resolve()));
  }

  #take(message: Buffer): void {
    const frame = decodeFrame(message);
    if (frame?.type === "error") this.#failure = toError(frame.error);
    else if (frame?.type === "inputTaken") this.taken = frame.taken;
    else if (frame !== undefined) this.#frames.add(frame, message.length);
    this.over ||= frame?.type === "end" && frame.end.reason !== "paused";
    if (frame?.type === "inputTaken" || frame?.type === "end") this.onChange?.();
  }
}

/** A WebSocket to a path of the daemon. */
export function openSocket(transport: Transport, path: string): WebSocket {
  const { address, headers, createConnection } = transport.socketAddress(path);
  return new WebSocket(address, {
    headers,
    perMessageDeflate: false,
    ...(createConnection === undefined ? {} : { createConnection }),
  });
}
