import type { Session, SessionEnd, StartSessionRequest } from "@torpor/contract";
import { frameKinds } from "@torpor/contract/frame";
import { createError } from "../errors.ts";
import type { ServerFrame } from "../session-stream.ts";
import { parseError } from "./answer.ts";
import type { Transport } from "./transport.ts";

const streams = { [frameKinds.stdout]: "stdout", [frameKinds.stderr]: "stderr", [frameKinds.terminal]: "terminal" } as const;
/** Bytes that may wait to be sent before a writer has to. */
const waitingBytes = 1024 * 1024;
const lookMs = 10;

/** Takes the place of session-stream.ts in a browser, whose WebSocket can't hold the sender up: what comes is queued. */
export class SessionStream implements AsyncIterable<ServerFrame> {
  readonly #socket: WebSocket;
  readonly #frames: ServerFrame[] = [];
  #failure: Error | undefined;
  #closed = false;
  #wake: () => void = () => {};

  static async open(transport: Transport, path: string, start?: StartSessionRequest): Promise<SessionStream> {
    const socket = new WebSocket(transport.socketAddress(path));
    socket.binaryType = "arraybuffer";
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
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ServerFrame> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) {
        yield frame;
        if (frame.type === "end") return;
      } else if (this.#failure !== undefined) throw this.#failure;
      else if (this.#closed) throw createError("daemon_unreachable", "the connection to torpord broke off before the command's end");
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  async write(data: Uint8Array): Promise<void> {
    await this.#send(frameKinds.stdin, data);
  }

  async end(): Promise<void> {
    await this.#send(frameKinds.stdinEnd, new Uint8Array(0));
  }

  async resize(rows: number, columns: number): Promise<void> {
    await this.#send(frameKinds.resize, jsonOf({ rows, columns }));
  }

  async signal(signal: string): Promise<void> {
    await this.#send(frameKinds.signal, jsonOf({ signal }));
  }

  close(): void {
    this.#socket.close();
  }

  async #send(kind: number, payload: Uint8Array): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const message = new Uint8Array(1 + payload.length);
    message[0] = kind;
    message.set(payload, 1);
    this.#socket.send(message);
    // A browser has no event for it.
    while (this.#socket.readyState === WebSocket.OPEN && this.#socket.bufferedAmount > waitingBytes)
      await new Promise((resolve) => setTimeout(resolve, lookMs));
  }

  #take(message: Uint8Array): void {
    const kind = message[0];
    if (kind === frameKinds.error) {
      this.#failure = parseError(textIn(message)) ?? createError("internal", "torpord sent an error that can't be read");
    } else {
      const frame = decode(kind, message);
      if (frame !== undefined) this.#frames.push(frame);
    }
    this.#wake();
  }
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

function decode(kind: number | undefined, message: Uint8Array): ServerFrame | undefined {
  if (kind === frameKinds.started) return { type: "started", session: JSON.parse(textIn(message)) as Session };
  if (kind === frameKinds.end) return { type: "end", end: JSON.parse(textIn(message)) as SessionEnd };
  const stream = streams[kind as keyof typeof streams];
  if (stream === undefined) return undefined;
  const seq = Number(new DataView(message.buffer, message.byteOffset).getBigUint64(1));
  return { type: "output", seq, stream, data: message.subarray(9) };
}

function textIn(message: Uint8Array): string {
  return new TextDecoder().decode(message.subarray(1));
}

function jsonOf(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
