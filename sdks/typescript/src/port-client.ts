import type { IncomingMessage } from "node:http";
import { Duplex } from "node:stream";
import { TorporError } from "@torpor/contract/error";
import type { WebSocket } from "ws";
import { addressOf } from "./calls.ts";
import { unreachable } from "./endpoint.ts";
import { PortCalls } from "./port-calls.ts";
import { openSocket } from "./session-stream.ts";
import { errorOf } from "./transport.ts";

/** Ports on which programs in sandboxes listen. `id` is a sandbox's id or name. */
export class PortClient extends PortCalls {
  /** A connection to what listens on a port, whatever network the sandbox has. Nothing listens: `port_closed`. */
  connect(id: string, port: number): Promise<Duplex> {
    const { transport } = this;
    const socket = openSocket(transport, addressOf("connectPort", { id, port: String(port) }));
    return new Promise((resolve, reject) => {
      const stream = new PortStream(socket);
      const held = { close: () => void stream.destroy() };
      transport.open.add(held);
      socket.once("close", () => transport.open.delete(held));
      socket.once("open", () => resolve(stream));
      socket.once("unexpected-response", (_request, answer: IncomingMessage) => {
        errorOf(answer, transport.endpoint).then(reject, reject);
      });
      socket.once("error", (error) => {
        const failure = unreachable(transport.endpoint, error);
        reject(failure);
        stream.destroy();
      });
    });
  }
}

/** Each side ends its own bytes by an empty message. */
class PortStream extends Duplex {
  readonly #socket: WebSocket;
  #ended = false;

  constructor(socket: WebSocket) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    socket.on("message", (data) => this.#take(data as Buffer));
    socket.once("close", () => {
      if (this.#ended) this.destroy();
      else this.destroy(new TorporError("daemon_unreachable", "the connection to the port broke off"));
    });
    this.once("end", () => this.#leaveIfOver());
    this.once("finish", () => this.#leaveIfOver());
  }

  override _read(): void {
    if (this.#socket.isPaused) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (chunk.length === 0) done();
    else this.#socket.send(chunk, (error) => done(error));
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.send(new Uint8Array(0), (error) => done(error));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.terminate();
    done(error);
  }

  #take(chunk: Buffer): void {
    if (chunk.length === 0) {
      this.#ended = true;
      this.push(null);
    } else if (!this.push(chunk)) {
      this.#socket.pause();
    }
  }

  #leaveIfOver(): void {
    if (this.readableEnded && this.writableFinished) this.#socket.close();
  }
}
