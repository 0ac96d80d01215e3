import type { StartSessionRequest } from "@torpor/contract";
import { socketProtocols } from "@torpor/contract/frame";
import { createError } from "../errors.ts";
import type { InputCarrier } from "../numbered-input.ts";
import { decodeFrame, encodeInput, encodeResize, encodeSignal, encodeStdin, encodeStdinEnd } from "../session-protocol.ts";
import type { SessionFrame } from "../session-stream.ts";
import { parseError, toError } from "./answer.ts";
import type { Transport } from "./transport.ts";

/** Bytes that may wait to be sent before a writer has to. */
const waitingBytes = 1024 * 1024;
const lookMs = 10;

/** Takes the place of session-stream.ts in a browser, whose WebSocket can't hold the sender up: what comes is queued. */
export class SessionStream implements AsyncIterable<SessionFrame>, InputCarrier {
  readonly #socket: WebSocket;
  readonly #frames: SessionFrame[] = [];
  #failure: Error | undefined;
  #closed = false;
  taken: number | undefined;
  over = false;
  onChange: (() => void) | undefined;
  #wake: () => void = () => {};

  static async open(transport: Transport, path: string, start?: StartSessionRequest): Promise<SessionStream> {
    const socket = openSocket(transport, path);
    const stream = new SessionStream(socket);
    const opened = await new Promise<boolean>((resolve) => {
      socket.addEventListener("open", () => resolve(true), { once: true });
      socket.addEventListener("error", () => resolve(false), { once: true });
    });
    if (!opened) throw await refusalOf(transport, path);
    transport.open.add(stream);
    socket.addEventListener("close", () => transport.open.delete(stream));
    if (start !== undefined) socket.send(JSON.stringify(start));
    return stream;
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#take(new Uint8Array(data as ArrayBuffer)));
    socket.addEventListener("close", () => {
      this.#closed = true;
      this.#wake();
      this.onChange?.();
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SessionFrame> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) {
        yield frame;
        if (frame.type === "end") return;
      } else if (this.#failure !== undefined) throw this.#failure;
      else if (this.#closed) throw createError("connection_lost", "the connection to torpord broke off before the command's end");
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  async write(data: Uint8Array): Promise<void> {
    await this.#send(encodeStdin(data));
  }

  async writeAt(position: number, data: Uint8Array): Promise<void> {
    await this.#send(encodeInput(position, data));
  }

  async end(): Promise<void> {
    await this.#send(encodeStdinEnd());
  }

  async resize(rows: number, columns: number): Promise<void> {
    await this.#send(encodeResize({ rows, columns }));
  }

  async signal(signal: string): Promise<void> {
    await this.#send(encodeSignal(signal));
  }

  close(): void {
    this.#socket.close();
  }

  async #send(message: Uint8Array): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.send(message as Uint8Array<ArrayBuffer>);
    // A browser has no event for it.
    while (this.#socket.readyState === WebSocket.OPEN && this.#socket.bufferedAmount > waitingBytes)
      await new Promise((resolve) => setTimeout(resolve, lookMs));
  }

  #take(message: Uint8Array): void {
    const frame = decodeFrame(message);
    if (frame?.type === "error") this.#failure = toError(frame.error);
    else if (frame?.type === "inputTaken") this.taken = frame.taken;
    else if (frame !== undefined) this.#frames.push(frame);
    this.over ||= frame?.type === "end" && frame.end.reason !== "paused";
    if (frame?.type === "inputTaken" || frame?.type === "end") this.onChange?.();
    this.#wake();
  }
}

/** A WebSocket to a path of the daemon. */
export function openSocket(transport: Transport, path: string): WebSocket {
  const { token } = transport.endpoint;
  const { name, token: before } = socketProtocols;
  const socket = new WebSocket(transport.socketAddress(path), token === "" ? [] : [name, before + token]);
  socket.binaryType = "arraybuffer";
  return socket;
}

/** A WebSocket that is refused tells nothing in a browser: the same address, asked plainly, does. */
async function refusalOf(transport: Transport, path: string): Promise<Error> {
  const { url, headers, name } = transport.endpoint;
  const text = await fetch(`${url.origin}${path}`, { headers }).then(
    (answer) => answer.text(),
    () => "",
  );
  const refusal = parseError(text);
  const told = refusal !== undefined && refusal.code !== "route_not_found" ? refusal : undefined;
  return told ?? createError("daemon_unreachable", `no WebSocket to ${name}`, { hint: "Look at proxies in between." });
}
