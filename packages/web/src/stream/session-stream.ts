import type { Session, SessionEnd, SessionMark, TerminalSize } from "@torpor/contract";
import { TorporError } from "@torpor/contract/error";
import { decodeFrame, encodeInput, encodeResize, type ServerFrame } from "@torpor/sdk/session-protocol";
import { backoffMs } from "./backoff.ts";
import { UnsentInput } from "./unsent-input.ts";

export type StreamState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** The connection broke; `attempts` in a row have failed. */
  | { readonly kind: "reconnecting"; readonly attempts: number; readonly nextAt: number | undefined }
  /** The sandbox does not run: `connect` again when it does. */
  | { readonly kind: "away" }
  | { readonly kind: "ended"; readonly end: SessionEnd }
  | { readonly kind: "refused"; readonly error: TorporError };

export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number }) => void) | null;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(): void;
}

export interface StreamPorts {
  /** Connects to the session's output after a sequence number. */
  open(after: number): Socket;
  /** Asks by a plain call what a refused WebSocket does not tell: rejects with the reason. */
  examine(): Promise<Session>;
  setTimer(ms: number, then: () => void): () => void;
  now(): number;
}

export interface StreamReader {
  /** `done` when the bytes were dealt with. */
  output(data: Uint8Array, done: () => void): void;
  started(session: Session): void;
  /** What comes from here on is new. */
  live(): void;
  resized(size: TerminalSize): void;
  /** In a supervised session: a process ended here, or another one began. */
  mark(mark: SessionMark): void;
  /** Some output is no longer kept and is missing here. */
  gap(): void;
  state(state: StreamState): void;
}

/**
 * Output that waits for the emulator, beyond which the connection is given up until it has caught up: a browser's WebSocket can't be told to wait, and the
 * emulator drops what is too much.
 */
const waitingLimitBytes = 8 * 1024 * 1024;
/** Input that is not taken for so long makes the page ask whether the network is still there. */
const unansweredMs = 4000;
/** Answers of the daemon after which no attempt can succeed. */
const final: readonly string[] = ["sandbox_not_found", "session_not_found", "unauthorized", "forbidden", "invalid_request"];
const notRunning: readonly string[] = ["sandbox_not_running", "session_paused", "sandbox_not_paused", "operation_active"];

/** A session's terminal over connections that may break: every byte of output once and in order, every byte of input once. */
export class SessionStream {
  readonly #ports: StreamPorts;
  readonly #reader: StreamReader;
  readonly #input = new UnsentInput();
  #socket: Socket | undefined;
  /** The server has said how much of the input it has, so more may be sent. */
  #inputOpen = false;
  #lastSeq = 0;
  #failures = 0;
  #waitingBytes = 0;
  #cancelTimer = () => {};
  #cancelProbe: (() => void) | undefined;
  state: StreamState = { kind: "away" };

  constructor(ports: StreamPorts, reader: StreamReader) {
    this.#ports = ports;
    this.#reader = reader;
  }

  /** Also: at once instead of after the rest of the back-off. */
  connect(): void {
    this.#drop();
    if (this.#failures === 0) this.#become({ kind: "connecting" });
    else this.#become({ kind: "reconnecting", attempts: this.#failures, nextAt: undefined });
    const socket = this.#ports.open(this.#lastSeq);
    this.#socket = socket;
    let opened = false;
    let last: ServerFrame | undefined;
    socket.onopen = () => {
      opened = true;
    };
    socket.onmessage = ({ data }) => {
      const frame = data instanceof ArrayBuffer ? decodeFrame(new Uint8Array(data)) : undefined;
      if (frame === undefined) return;
      last = frame;
      this.#take(frame);
    };
    socket.onclose = ({ code }) => {
      if (this.#socket !== socket) return;
      this.#drop();
      if (last?.type === "end") return;
      if (last?.type === "error") this.#refused(new TorporError(last.error.code, last.error.message));
      else if (code === 4004)
        this.#become({ kind: "refused", error: new TorporError("session_ended", "another client took this terminal over") });
      else if (opened) this.#again();
      else this.#examine();
    };
  }

  /** Lets go of the connection; the session goes on. */
  close(): void {
    this.#drop();
    this.#become({ kind: "away" });
  }

  /** The network is known to be gone. */
  interrupt(): void {
    if (this.state.kind !== "live" && this.state.kind !== "connecting") return;
    this.#drop();
    this.#again();
  }

  write(data: Uint8Array): void {
    const position = this.#input.add(data);
    if (this.#inputOpen) this.#socket?.send(encodeInput(position, data) as Uint8Array<ArrayBuffer>);
    this.#cancelProbe ??= this.#ports.setTimer(unansweredMs, () => this.#probe());
  }

  resize(size: TerminalSize): void {
    if (this.state.kind === "live") this.#socket?.send(encodeResize(size) as Uint8Array<ArrayBuffer>);
  }

  #take(frame: ServerFrame): void {
    switch (frame.type) {
      case "started":
        this.#reader.started(frame.session);
        break;
      case "live":
        this.#failures = 0;
        this.#become({ kind: "live" });
        this.#reader.live();
        break;
      case "output":
        this.#output(frame.seq, frame.data);
        break;
      case "mark":
        this.#mark(frame.seq, frame.mark);
        break;
      case "inputTaken":
        this.#taken(frame.taken);
        break;
      case "resized":
        this.#reader.resized(frame.size);
        break;
      case "end":
        this.#become(frame.end.reason === "paused" ? { kind: "away" } : { kind: "ended", end: frame.end });
        break;
      case "error":
        // The close that follows says what to do.
        break;
    }
  }

  #output(seq: number, data: Uint8Array): void {
    if (seq <= this.#lastSeq) return;
    this.#lastSeq = seq;
    this.#waitingBytes += data.length;
    this.#reader.output(data, () => {
      this.#waitingBytes -= data.length;
      if (this.#waitingBytes === 0 && this.state.kind === "connecting" && this.#socket === undefined) this.connect();
    });
    if (this.#waitingBytes > waitingLimitBytes) {
      this.#drop();
      this.#become({ kind: "connecting" });
    }
  }

  #mark(seq: number, mark: SessionMark): void {
    if (seq <= this.#lastSeq) return;
    this.#lastSeq = seq;
    this.#reader.mark(mark);
  }

  #taken(taken: number): void {
    this.#input.take(taken);
    if (this.#input.isEmpty) this.#endProbe();
    if (this.#inputOpen) return;
    this.#inputOpen = true;
    for (const { position, data } of this.#input) this.#socket?.send(encodeInput(position, data) as Uint8Array<ArrayBuffer>);
  }

  #again(): void {
    const waitMs = backoffMs(this.#failures);
    this.#failures++;
    this.#become({ kind: "reconnecting", attempts: this.#failures, nextAt: this.#ports.now() + waitMs });
    this.#cancelTimer = this.#ports.setTimer(waitMs, () => this.connect());
  }

  #examine(): void {
    this.#ports.examine().then(
      () => this.#stillUnconnected() && this.#again(),
      (error: unknown) => this.#stillUnconnected() && this.#refused(error),
    );
  }

  #stillUnconnected(): boolean {
    return this.#socket === undefined && (this.state.kind === "connecting" || this.state.kind === "reconnecting");
  }

  #refused(error: unknown): void {
    const code = error instanceof TorporError ? error.code : "";
    if (code === "session_output_gone") this.#passGap();
    else if (notRunning.includes(code)) this.#become({ kind: "away" });
    else if (final.includes(code)) this.#become({ kind: "refused", error: error as TorporError });
    else this.#again();
  }

  /** The oldest output that is kept follows on a gap. */
  #passGap(): void {
    this.#ports.examine().then(
      ({ firstSeq }) => {
        if (!this.#stillUnconnected()) return;
        if (this.#lastSeq < firstSeq - 1) {
          this.#lastSeq = firstSeq - 1;
          this.#reader.gap();
        }
        this.connect();
      },
      (error: unknown) => this.#stillUnconnected() && this.#refused(error),
    );
  }

  /** A cut of the network is not always told of: what was typed is not answered, and neither is a call. */
  #probe(): void {
    this.#endProbe();
    if (this.state.kind !== "live") return;
    this.#ports.examine().catch((error: unknown) => {
      if (error instanceof TorporError && error.code === "daemon_unreachable") this.interrupt();
    });
  }

  #endProbe(): void {
    this.#cancelProbe?.();
    this.#cancelProbe = undefined;
  }

  #drop(): void {
    this.#cancelTimer();
    this.#endProbe();
    this.#inputOpen = false;
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket === undefined) return;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  #become(state: StreamState): void {
    this.state = state;
    this.#reader.state(state);
  }
}
