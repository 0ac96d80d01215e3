import { Unacknowledged } from "./unacknowledged.ts";

/** What carries input: a connection that was attached with the client's id. */
export interface InputCarrier {
  readonly isOpen: boolean;
  /** The session has told its end, which is none that a resume takes back. */
  readonly over: boolean;
  /** Of this client's input the process has so many bytes; undefined: the daemon has not told yet. */
  readonly taken: number | undefined;
  /** Told of each change of these. */
  onChange: (() => void) | undefined;
  writeAt(position: number, data: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

/** Bytes of input in one frame. */
const pieceBytes = 64 * 1024;
/** Input that may wait unacknowledged, in bytes, before a write has to wait. */
const waitingBytes = 1024 * 1024;
/** A process that does not read its input is waited for so long. */
const arrivalMs = 500;

/**
 * What one client types into a session, its bytes numbered: what a connection that breaks, or a pause, had not delivered goes with the next one, and is
 * typed once.
 */
export class NumberedInput {
  /** How the session knows this client again. */
  readonly client: string;
  readonly #connect: () => Promise<InputCarrier>;
  readonly #pending = new Unacknowledged();
  readonly #waiting = new Set<() => void>();
  #ended = false;
  #left = false;
  /** The latest connection. */
  #joined: InputCarrier | undefined;
  /** The daemon has told over it what it has: input is sent as it comes. */
  #ready: InputCarrier | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** `connect` gives the connection that there is, or a new one. */
  constructor(connect: () => Promise<InputCarrier>, client = clientId()) {
    this.#connect = connect;
    this.client = client;
  }

  /** A connection that was made. */
  join(carrier: InputCarrier): void {
    this.#joined = carrier;
    const look = () => this.#told(carrier);
    carrier.onChange = look;
    look();
  }

  /** When it throws, as it does while the sandbox is paused, nothing of the piece at hand is typed. */
  write(data: Uint8Array): Promise<void> {
    return this.#inTurn(async () => {
      for (let at = 0; at < data.length; at += pieceBytes) {
        const piece = data.slice(at, at + pieceBytes);
        const carrier = await this.#open();
        if (carrier === undefined) return;
        await carrier.writeAt(this.#pending.add(piece), piece);
        await this.#arrival();
      }
    });
  }

  end(): Promise<void> {
    return this.#inTurn(async () => {
      const carrier = await this.#open();
      this.#ended = true;
      await carrier?.end();
    });
  }

  /**
   * As `write`, beside somebody who reads, and makes the connections anew that break: all of it arrives. Resolves when there is room for more; with false
   * when nothing is taken any more.
   */
  async pour(data: Uint8Array): Promise<boolean> {
    await this.#inTurn(async () => {
      for (let at = 0; at < data.length; at += pieceBytes) {
        const piece = data.slice(at, at + pieceBytes);
        await this.#change(() => this.#isReady || this.#isOver);
        if (this.#isOver) return;
        await this.#ready?.writeAt(this.#pending.add(piece), piece);
        await this.#change(() => this.#pending.bytes <= waitingBytes || this.#isOver);
      }
    });
    return !this.#isOver;
  }

  /** The end of what was poured. */
  finish(): Promise<void> {
    return this.#inTurn(async () => {
      this.#ended = true;
      if (this.#isReady) await this.#ready?.end();
    });
  }

  /** Nobody wants to write to it any more. */
  leave(): void {
    this.#left = true;
    this.#wake();
  }

  get #isReady(): boolean {
    return this.#ready !== undefined && this.#ready === this.#joined && this.#ready.isOpen;
  }

  get #isOver(): boolean {
    return this.#ended || this.#left || this.#joined?.over === true;
  }

  /** Resolves with a connection over which the daemon has told what it has; undefined: it takes no input any more. */
  async #open(): Promise<InputCarrier | undefined> {
    while (!this.#ended && !this.#left) {
      const carrier = await this.#connect();
      if (carrier.over) return undefined;
      if (carrier === this.#ready && carrier.isOpen) return carrier;
      await this.#change(() => this.#ready === carrier || !carrier.isOpen || this.#left);
    }
    return undefined;
  }

  #told(carrier: InputCarrier): void {
    if (carrier.taken !== undefined) {
      this.#pending.take(carrier.taken);
      if (this.#ready !== carrier) {
        this.#ready = carrier;
        for (const { position, data } of this.#pending.all()) void carrier.writeAt(position, data);
        if (this.#ended) void carrier.end();
      }
    }
    this.#wake();
  }

  /** All has arrived; not waited for long where the process does not read, unless too much waits for it. */
  async #arrival(): Promise<void> {
    const begun = performance.now();
    const patience = setTimeout(() => this.#wake(), arrivalMs);
    const late = () => performance.now() - begun >= arrivalMs - 1;
    try {
      await this.#delivery(() => this.#pending.bytes === 0 || (late() && this.#pending.bytes <= waitingBytes));
    } finally {
      clearTimeout(patience);
    }
  }

  async #delivery(done: () => boolean): Promise<void> {
    while (!done() && !this.#left) {
      // Where none is to be had, all goes with the next one, which its reader makes.
      const carrier = await this.#connect().catch(() => undefined);
      if (carrier === undefined || carrier.over) return;
      await this.#change(() => done() || !carrier.isOpen || this.#left);
    }
  }

  /** One after the other: each piece stands where the one before ends. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  async #change(until: () => boolean): Promise<void> {
    while (!until()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

/** crypto.randomUUID is there for pages of https only. */
export function clientId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
