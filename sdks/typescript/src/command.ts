import type { Session, SessionEnd } from "@torpor/contract";
import { TorporError } from "@torpor/contract/error";
import type { TorporClient } from "./client.ts";
import { type CommandResult, resultOf, Tail } from "./command-result.ts";
import { createError } from "./errors.ts";
import { NumberedInput } from "./numbered-input.ts";
import { refuseUnknown } from "./refuse-unknown.ts";
import type { SessionStream } from "./session-stream.ts";
import { waitFor } from "./wait-for.ts";

/** A piece of what a command writes. */
export interface Output {
  readonly stream: "stdout" | "stderr" | "terminal";
  readonly data: Uint8Array;
  /** The same as text; a character that is split between two pieces comes with the second. */
  readonly text: string;
  /** Its place in the command's output: `attach` with it goes on after it. */
  readonly seq: number;
}

export interface ReadOptions {
  /** Ends the reading; the command goes on. */
  readonly signal?: AbortSignal;
  readonly onStdout?: (text: string) => unknown;
  readonly onStderr?: (text: string) => unknown;
}

export interface CommandOptions {
  /** Of a pause in the middle: go on reading when the sandbox runs again, or throw `session_paused`. */
  readonly overPause: "wait" | "throw";
  /** Output of each stream that the result has, in bytes. */
  readonly outputLimitBytes?: number;
  /** Last sequence number already seen. */
  readonly after?: number;
  /** The id that the connection given with it has been opened with: its input has positions. */
  readonly client?: string;
}

/** Of each stream, as the API's own exec has it. */
const outputLimitBytes = 8 * 1024 * 1024;
/** A daemon that was restarted is waited for so long, in ms. */
const patienceMs = 60_000;
const retryMs = 500;
/** Of output that is no longer kept. */
const goneStatus = 410;

/** A command that runs in a sandbox, or ran. Iterating reads its output; it goes on whether it is read or not, and over a pause. */
export class Command implements AsyncIterable<Output>, AsyncDisposable {
  readonly id: string;
  readonly #client: TorporClient;
  readonly #sandbox: string;
  readonly #options: CommandOptions;
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder(), terminal: new TextDecoder() };
  readonly #stdout: Tail;
  readonly #stderr: Tail;
  readonly #input: NumberedInput;
  #stream: SessionStream | undefined;
  #attaching: Promise<SessionStream> | undefined;
  #seq: number;
  #gap = false;
  #end: SessionEnd | undefined;
  #disconnected = false;

  /** `stream`: a connection that is there already. */
  constructor(client: TorporClient, sandbox: string, id: string, options: CommandOptions, stream?: SessionStream) {
    this.#client = client;
    this.#sandbox = sandbox;
    this.id = id;
    this.#options = options;
    this.#stream = stream;
    this.#input = new NumberedInput(() => this.#writable(), options.client);
    if (options.client !== undefined && stream !== undefined) this.#input.join(stream);
    this.#seq = options.after ?? 0;
    this.#stdout = new Tail(options.outputLimitBytes ?? outputLimitBytes);
    this.#stderr = new Tail(options.outputLimitBytes ?? outputLimitBytes);
  }

  /** Its output from where reading ended last, until its end. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Output> {
    let lostAt: number | undefined;
    while (this.#end === undefined) {
      try {
        const end = yield* this.#connection(() => {
          lostAt = undefined;
        });
        if (end.reason === "paused") await this.#overPause(end);
        else this.#end = end;
      } catch (error) {
        lostAt ??= performance.now();
        if (this.#disconnected || !isLost(error) || performance.now() - lostAt > patienceMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }

  /** Reads to its end; a part that was read before belongs to the result too. */
  async wait(options: ReadOptions = {}): Promise<CommandResult> {
    refuseUnknown(options, { signal: true, onStdout: true, onStderr: true });
    const { signal, onStdout, onStderr } = options;
    signal?.throwIfAborted();
    const leave = () => this.disconnect();
    signal?.addEventListener("abort", leave, { once: true });
    try {
      for await (const { stream, text } of this) {
        await (stream === "stderr" ? onStderr : onStdout)?.(text);
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
    return resultOf(this.#end as SessionEnd, {
      sandbox: this.#sandbox,
      sessionId: this.id,
      stdout: this.#stdout,
      stderr: this.#stderr,
      gap: this.#gap,
    });
  }

  /** Sends a signal to its process group: KILL, TERM, INT, … */
  kill(signal = "KILL"): Promise<void> {
    return this.#client.signal(this.#sandbox, this.id, signal);
  }

  /**
   * Input, for a command that was started with `stdin: true`. It is typed once: what a connection that breaks, or a pause, had not delivered goes with the
   * next connection. Where it throws, as it does while the sandbox is paused, nothing of it was typed.
   */
  async write(data: string | Uint8Array): Promise<void> {
    await this.#input.write(typeof data === "string" ? new TextEncoder().encode(data) : data);
  }

  async closeStdin(): Promise<void> {
    await this.#input.end();
  }

  /**
   * Input beside reading, which makes a connection anew that breaks: all of it arrives, and is typed once. Rejects only when its source does; a command
   * that ends, or closes its input, before all of it came has had enough.
   */
  async feed(content: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const data of content) if (!(await this.#input.pour(data))) return;
    await this.#input.finish();
  }

  inspect(): Promise<Session> {
    return this.#client.session(this.#sandbox, this.id);
  }

  /** Forgets it and its output, once it has ended; with `force` it is killed first. */
  remove(options: { readonly force?: boolean } = {}): Promise<void> {
    return this.#client.removeSession(this.#sandbox, this.id, options);
  }

  /** Closes the connection; the command goes on, and `sandbox.attach(id)` reads on. */
  disconnect(): void {
    this.#disconnected = true;
    this.#input.leave();
    this.#stream?.close();
    this.#stream = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.disconnect();
  }

  async *#connection(met: () => void): AsyncGenerator<Output, SessionEnd> {
    const connection = await this.#connected();
    let left = true;
    try {
      for await (const frame of connection) {
        met();
        // A writer that connects anew meanwhile has it come again.
        if (frame.type === "output" && frame.seq > this.#seq) {
          this.#seq = frame.seq;
          yield this.#taken(frame);
        } else if (frame.type === "end") {
          left = frame.end.reason !== "paused";
          return frame.end;
        }
      }
      left = false;
      throw createError("daemon_unreachable", "the connection to torpord broke off before the command's end");
    } catch (error) {
      left = false;
      throw await this.#moved(error);
    } finally {
      // A reader that breaks out of its loop may come back to the same connection.
      if (!left || this.#disconnected) this.#leave(connection);
    }
  }

  async #connected(): Promise<SessionStream> {
    if (this.#disconnected) throw createError("session_ended", `command ${this.id} was left: attach to it anew`);
    if (this.#stream !== undefined) return this.#stream;
    this.#attaching ??= this.#attach();
    return this.#attaching;
  }

  /** One at a time: who reads and who writes may be two. */
  async #attach(): Promise<SessionStream> {
    try {
      const stream = await this.#client.attach(this.#sandbox, this.id, { after: this.#seq, client: this.#input.client });
      this.#stream = stream;
      this.#input.join(stream);
      return stream;
    } finally {
      this.#attaching = undefined;
    }
  }

  /** A writer has no use for a connection that has ended, whose reader still reads on. */
  async #writable(): Promise<SessionStream> {
    const there = this.#stream;
    if (there !== undefined && !there.isOpen && !there.over) this.#leave(there);
    return this.#connected();
  }

  #leave(stream: SessionStream): void {
    if (this.#stream === stream) this.#stream = undefined;
  }

  /** What was written before anybody read may be gone: reading goes on with what there is. */
  async #moved(error: unknown): Promise<unknown> {
    if (!(error instanceof TorporError) || error.status !== goneStatus) return error;
    const { firstSeq } = await this.inspect();
    this.#gap = true;
    this.#seq = firstSeq - 1;
    return createError("daemon_unreachable", error.message, { cause: error });
  }

  #taken({ stream, data, seq }: Omit<Output, "text">): Output {
    (stream === "stderr" ? this.#stderr : this.#stdout).add(data);
    return { stream, data, seq, text: this.#decoders[stream].decode(data, { stream: true }) };
  }

  async #overPause(end: SessionEnd): Promise<void> {
    if (this.#options.overPause === "throw") {
      throw createError("session_paused", `sandbox ${this.#sandbox} was paused: resume it; the command continues then`, {
        hint: "sandbox.attach(sessionId) reads on.",
        details: { sessionId: this.id, after: this.#seq, reason: end.reason },
      });
    }
    await waitFor(this.#client, this.#sandbox, { state: ["running", "stopped", "failed"] });
  }
}

const lostCodes: ReadonlySet<string> = new Set(["daemon_unreachable", "connection_lost", "shutting_down"]);

function isLost(error: unknown): boolean {
  return error instanceof TorporError && lostCodes.has(error.code);
}
