import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { TorporError } from "@torpor/contract";
import type { Capture, CaptureOptions, CheckpointPart, Hold, RuntimeEnd } from "@torpor/core";

interface Problem {
  readonly kind: "engine" | "corrupt" | "host";
  readonly message: string;
  readonly part?: string;
}

interface Pending {
  readonly call: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** The shim is gone: its runtime may live on, and `destroy` still works from its directory. */
export class ShimGone extends TorporError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super("engine_failed", message, { hint: "torpor inspect tells how the sandbox is now.", ...options });
  }
}

export interface ShimStatus {
  readonly state: "absent" | "running" | "frozen" | "ended";
  readonly end?: RuntimeEnd;
}

/** What a shim tells by itself. */
export interface ShimNews {
  ended(end: RuntimeEnd): void;
  held(hold: Hold | null): void;
  closed(): void;
}

/** One connection to a shim: calls as JSON, one object a line, answered in any order. */
export class ShimClient {
  #socket: Socket;
  #pending = new Map<number, Pending>();
  #nextId = 1;
  #closed = false;
  readonly #news: ShimNews;

  private constructor(socket: Socket, news: ShimNews) {
    this.#socket = socket;
    this.#news = news;
    const lines = createInterface({ input: socket });
    lines.on("line", (line) => this.#receive(line));
    // "close" follows, and tells the callers. The reader passes the socket's errors on as its own.
    for (const source of [socket, lines]) {
      source.on("error", () => {});
    }
    socket.on("close", () => this.#lost());
  }

  static open(path: string, news: ShimNews): Promise<ShimClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once("error", (cause) => reject(new ShimGone(`the shim at ${path} does not answer`, { cause })));
      socket.once("connect", () => resolve(new ShimClient(socket, news)));
    });
  }

  boot(): Promise<void> {
    return this.#call("boot") as Promise<void>;
  }
  restore(location: string, parts: readonly CheckpointPart[]): Promise<void> {
    return this.#call("restore", { location, parts }) as Promise<void>;
  }
  freeze(): Promise<void> {
    return this.#call("freeze") as Promise<void>;
  }
  thaw(): Promise<void> {
    return this.#call("thaw") as Promise<void>;
  }
  sync(): Promise<void> {
    return this.#call("sync") as Promise<void>;
  }
  async capture(location: string, options: CaptureOptions): Promise<Capture["parts"]> {
    const { parts } = (await this.#call("capture", { location, ...options })) as { parts: Capture["parts"] };
    return parts;
  }
  syncDisk(): Promise<void> {
    return this.#call("syncDisk") as Promise<void>;
  }
  async digest(location: string, parts: Capture["parts"]): Promise<CheckpointPart[]> {
    return ((await this.#call("digest", { location, parts })) as { parts: CheckpointPart[] }).parts;
  }
  /** Before it is answered `held` is told how it is now. */
  status(): Promise<ShimStatus> {
    return this.#call("status") as Promise<ShimStatus>;
  }
  async memoryBytes(): Promise<number> {
    return ((await this.#call("memory")) as { bytes: number }).bytes;
  }
  destroy(): Promise<void> {
    return this.#call("destroy") as Promise<void>;
  }

  close(): void {
    this.#socket.destroy();
  }

  get closed(): boolean {
    return this.#closed;
  }

  #call(call: string, fields: object = {}): Promise<unknown> {
    if (this.#closed) {
      return Promise.reject(new ShimGone("the shim is gone"));
    }
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { call, resolve, reject });
      this.#socket.write(`${JSON.stringify({ id, call, ...fields })}\n`);
    });
  }

  #receive(line: string): void {
    const answer = parse(line);
    if (answer === undefined) return void this.#socket.destroy();
    if (answer.event === "ended") {
      this.#news.ended(answer.result as RuntimeEnd);
      return;
    }
    if (answer.event === "held") {
      this.#news.held((answer.result as Hold | undefined) ?? null);
      return;
    }
    const pending = this.#pending.get(answer.id ?? 0);
    this.#pending.delete(answer.id ?? 0);
    if (answer.error === undefined) {
      pending?.resolve(answer.result);
    } else {
      pending?.reject(toTorporError(answer.error, pending.call));
    }
  }

  #lost(): void {
    this.#closed = true;
    for (const pending of this.#pending.values()) {
      pending.reject(new ShimGone("the shim ended during the call"));
    }
    this.#pending.clear();
    this.#news.closed();
  }
}

/** undefined: the end of a shim that was killed while it wrote. */
function parse(line: string): { id?: number; event?: string; result?: unknown; error?: Problem } | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function toTorporError(problem: Problem, call: string): TorporError {
  if (problem.kind === "corrupt") {
    return new TorporError("checkpoint_corrupt", problem.message, {
      hint: "Resume with memory discarded boots the sandbox from its files.",
      details: { part: problem.part },
    });
  }
  if (/no space left/i.test(problem.message)) {
    return new TorporError("disk_full", problem.message);
  }
  // An engine that refuses a checkpoint says something about the checkpoint; a host that can't make a mount does not.
  return new TorporError(problem.kind === "engine" && call === "restore" ? "restore_failed" : "engine_failed", problem.message);
}
