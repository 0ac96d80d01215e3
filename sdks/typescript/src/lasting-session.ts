import type { ErrorBody, Session, SessionEnd, TerminalSize } from "@torpor/contract";
import { TorporError } from "@torpor/contract/error";
import { closeCodes } from "@torpor/contract/frame";
import { FrameQueue } from "./frame-queue.ts";
import { decodeFrame, encodeInput, encodeResize, encodeSignal, encodeStdinEnd, type ServerFrame } from "./session-protocol.ts";
import { Unacknowledged } from "./unacknowledged.ts";

// Runs in a browser too: no import of Node.js here, nor in what it imports.

/** What the WebSockets of a browser and of Node.js both have. */
export interface SocketLike {
  binaryType: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: Uint8Array): void;
  close(): void;
  pause?(): void;
  resume?(): void;
}

export interface AttachQuery {
  readonly after: number;
  readonly client: string;
  readonly mode: "read" | "write";
  readonly hold: boolean;
  readonly takeover?: boolean;
}

export interface LastingOptions {
  /** A WebSocket to the session's `attach` with this query. */
  readonly connect: (query: AttachQuery) => SocketLike;
  /** Reads the session's record: it tells a refusal, which a WebSocket can't, from a network that is down. */
  readonly look: () => Promise<Session>;
  readonly after?: number;
  /** Default `write`. */
  readonly mode?: "read" | "write";
  /** Whether the process waits when this reader is slow. Default: a writer does. */
  readonly hold?: boolean;
  /** End the connections of all others that may write. */
  readonly takeover?: boolean;
  /** How long it tries to come back. Default 10 minutes. */
  readonly giveUpMs?: number;
}

export type LastingEvent =
  | Exclude<ServerFrame, { type: "inputTaken" | "error" | "end" }>
  /** The connection broke off; it is tried again in this time. */
  | { readonly type: "cut"; readonly retryMs: number }
  /** What is between these numbers is no longer kept. */
  | { readonly type: "gap"; readonly after: number; readonly oldest: number }
  /** The last event is one of these. */
  | { readonly type: "end"; readonly end: SessionEnd }
  | { readonly type: "kicked" }
  | { readonly type: "failed"; readonly error: TorporError };

/** Input that may wait unacknowledged, in bytes, before a write has to wait. */
const waitingBytes = 1024 * 1024;
/** Bytes of input in one frame. */
const pieceBytes = 64 * 1024;
const firstRetryMs = 100;
const longestRetryMs = 5000;

/**
 * A session over connections that come and go: output comes once and in order whatever breaks, and input that is not known to have arrived is sent
 * again, and typed once. Iterate to read; closing it leaves the process running.
 */
export class LastingSession implements AsyncIterable<LastingEvent> {
  readonly #options: LastingOptions;
  readonly #client = crypto.randomUUID();
  readonly #events: FrameQueue<LastingEvent>;
  readonly #unacknowledged = new Unacknowledged();
  #roomFor: (() => void)[] = [];
  #socket: SocketLike | undefined;
  /** The server has told what it has of our input: from then on input is sent as it comes. */
  #synced = false;
  #seen: number;
  #size: TerminalSize | undefined;
  #inputEnded = false;
  #over = false;
  #tries = 0;
  #cutAt: number | undefined;

  constructor(options: LastingOptions) {
    this.#options = options;
    this.#seen = options.after ?? 0;
    this.#events = new FrameQueue((held) => (held ? this.#socket?.pause?.() : this.#socket?.resume?.()));
    this.#connect(options.takeover === true);
  }

  /** Sequence number of the last output that was given out. */
  get seen(): number {
    return this.#seen;
  }

  [Symbol.asyncIterator](): AsyncIterator<LastingEvent> {
    return this.#events[Symbol.asyncIterator]();
  }

  /** Resolves when there is room for more. */
  async write(data: Uint8Array): Promise<void> {
    if (this.#over || this.#inputEnded) return;
    for (let at = 0; at < data.length; at += pieceBytes) {
      const piece = data.slice(at, at + pieceBytes);
      const position = this.#unacknowledged.add(piece);
      if (this.#synced) this.#socket?.send(encodeInput(position, piece));
    }
    while (this.#unacknowledged.bytes > waitingBytes && !this.#over) await new Promise<void>((resolve) => this.#roomFor.push(resolve));
  }

  /** The end of the input; output goes on. */
  end(): void {
    this.#inputEnded = true;
    if (this.#synced) this.#socket?.send(encodeStdinEnd());
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    if (this.#synced) this.#socket?.send(encodeResize(size));
  }

  /** Only while it is connected: a signal for later would come as a surprise. */
  signal(signal: string): void {
    if (this.#synced) this.#socket?.send(encodeSignal(signal));
  }

  close(): void {
    this.#finish();
    this.#socket?.close();
  }

  #connect(takeover: boolean): void {
    const { mode = "write", hold = mode === "write" } = this.#options;
    const socket = this.#options.connect({ after: this.#seen, client: this.#client, mode, hold, ...(takeover ? { takeover } : {}) });
    let started = false;
    let failure: ErrorBody["error"] | undefined;
    socket.binaryType = "arraybuffer";
    socket.onerror = () => {};
    socket.onmessage = ({ data }: { readonly data: ArrayBuffer }) => {
      const bytes = new Uint8Array(data);
      const frame = decodeFrame(bytes);
      started ||= frame?.type === "started";
      if (frame?.type === "error") failure = frame.error;
      else if (frame !== undefined && !this.#over) this.#take(frame, bytes.length);
    };
    socket.onclose = ({ code }: { readonly code: number }) => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#synced = false;
      if (!this.#over) this.#closed(code, failure, started);
    };
    this.#socket = socket;
  }

  #closed(code: number, failure: ErrorBody["error"] | undefined, started: boolean): void {
    if (code === closeCodes.kicked) this.#finish({ type: "kicked" });
    else if (failure !== undefined) this.#fail(toError(failure));
    else if (code === closeCodes.refused) this.#fail(new TorporError("internal", "the server refused what this client sent"));
    else if (started) this.#retry();
    else this.#explain();
  }

  #take(frame: Exclude<ServerFrame, { type: "error" }>, bytes: number): void {
    if (frame.type === "started") {
      this.#tries = 0;
      this.#cutAt = undefined;
    }
    if (frame.type === "output" || frame.type === "mark") this.#seen = frame.seq;
    if (frame.type === "inputTaken") this.#acknowledge(frame.taken);
    else if (frame.type === "end") this.#finish(frame);
    else this.#events.add(frame, bytes);
  }

  #acknowledge(taken: number): void {
    this.#unacknowledged.take(taken);
    if (this.#unacknowledged.bytes <= waitingBytes) this.#wakeWriters();
    if (this.#synced) return;
    this.#synced = true;
    for (const { position, data } of this.#unacknowledged.all()) this.#socket?.send(encodeInput(position, data));
    if (this.#size !== undefined) this.#socket?.send(encodeResize(this.#size));
    if (this.#inputEnded) this.#socket?.send(encodeStdinEnd());
  }

  /** The connection was refused, or there was none. */
  #explain(): void {
    this.#options.look().then(
      ({ firstSeq, lastSeq }) => {
        const oldest = firstSeq === 0 ? lastSeq + 1 : firstSeq;
        if (this.#seen + 1 < oldest) this.#skipTo(oldest);
        else this.#retry();
      },
      (error: unknown) => this.#fail(error instanceof TorporError ? error : new TorporError("daemon_unreachable", String(error))),
    );
  }

  #fail(error: TorporError): void {
    if (error.code === "session_output_gone") this.#skipTo(Number(error.details.oldest ?? this.#seen + 1));
    else if (error.retryable && error.code !== "session_paused") this.#retry();
    else this.#finish({ type: "failed", error });
  }

  #skipTo(oldest: number): void {
    if (this.#over) return;
    this.#events.add({ type: "gap", after: this.#seen, oldest }, 0);
    this.#seen = oldest - 1;
    this.#connect(false);
  }

  #retry(): void {
    if (this.#over) return;
    this.#cutAt ??= Date.now();
    if (Date.now() - this.#cutAt > (this.#options.giveUpMs ?? 600_000)) {
      const error = new TorporError("daemon_unreachable", "the connection to torpord broke off, and it does not come back", {
        hint: "The session goes on: attach to it again when torpord can be reached.",
      });
      this.#finish({ type: "failed", error });
      return;
    }
    const longest = Math.min(longestRetryMs, firstRetryMs * 2 ** this.#tries++);
    // Spread out: all clients of a server that was away would come back at once.
    const retryMs = Math.round(longest * (0.5 + Math.random() / 2));
    this.#events.add({ type: "cut", retryMs }, 0);
    setTimeout(() => {
      if (!this.#over) this.#connect(false);
    }, retryMs);
  }

  #finish(last?: LastingEvent): void {
    if (this.#over) return;
    this.#over = true;
    this.#wakeWriters();
    if (last !== undefined) this.#events.add(last, 0);
    this.#events.finish();
  }

  #wakeWriters(): void {
    const waiting = this.#roomFor;
    this.#roomFor = [];
    for (const wake of waiting) wake();
  }
}

function toError({ code, message, hint, details }: ErrorBody["error"]): TorporError {
  return new TorporError(code as TorporError["code"], message, {
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details }),
  });
}
