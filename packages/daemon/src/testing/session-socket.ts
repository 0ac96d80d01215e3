import { once } from "node:events";
import { frameKinds, type SessionEnd } from "@torpor/contract";
import type { TestServer } from "./test-server.ts";

type Socket = Awaited<ReturnType<TestServer["app"]["injectWS"]>>;
export interface Frame {
  readonly kind: number;
  readonly seq: number;
  readonly data: Buffer;
}

/** A client of a session, that keeps all it is told. */
export class SessionSocket {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  readonly closed: Promise<number>;
  readonly #waiting = new Set<() => void>();

  static async open(server: TestServer, path: string): Promise<SessionSocket> {
    const made: SessionSocket[] = [];
    // What comes with the answer itself would be missed later.
    await server.app.injectWS(path, {}, { onInit: (socket: unknown) => void made.push(new SessionSocket(socket as Socket)) });
    return made[0] as SessionSocket;
  }

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("message", (message: Buffer) => {
      const kind = message[0] as number;
      const numbered =
        (kind >= frameKinds.stdout && kind <= frameKinds.terminal) || kind === frameKinds.mark || kind === frameKinds.inputTaken;
      this.frames.push({ kind, seq: numbered ? Number(message.readBigUInt64BE(1)) : 0, data: message.subarray(numbered ? 9 : 1) });
      this.#wake();
    });
    this.closed = once(socket, "close").then(([code]) => {
      this.#wake();
      return code as number;
    });
  }

  get isClosed(): boolean {
    return this.socket.readyState > 1;
  }

  get output(): string {
    return Buffer.concat(this.frames.filter(isOutput).map(({ data }) => data)).toString();
  }

  get lastSeq(): number {
    return this.frames.filter(isOutput).at(-1)?.seq ?? 0;
  }

  get end(): SessionEnd {
    return this.json(frameKinds.end) as SessionEnd;
  }

  json(kind: number): unknown {
    return JSON.parse(String(this.frames.find((frame) => frame.kind === kind)?.data));
  }

  async until(what: () => boolean): Promise<void> {
    while (!what()) {
      if (this.isClosed) throw new Error(`the connection was closed: ${this.output}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  has(kind: number): Promise<void> {
    return this.until(() => this.frames.some((frame) => frame.kind === kind));
  }

  send(kind: number, payload: string | Uint8Array = ""): void {
    this.socket.send(Buffer.concat([Buffer.of(kind), Buffer.from(payload)]));
  }

  /** Input of a client that counts. */
  type(position: number, data: string | Uint8Array): void {
    const at = Buffer.alloc(8);
    at.writeBigUInt64BE(BigInt(position));
    this.send(frameKinds.input, Buffer.concat([at, Buffer.from(data)]));
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** The network's end, without a word. */
  cut(): void {
    this.socket.terminate();
  }
}

const isOutput = ({ kind }: Frame) => kind >= frameKinds.stdout && kind <= frameKinds.terminal;
