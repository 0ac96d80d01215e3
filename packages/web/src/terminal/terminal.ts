import { effect, signal } from "@preact/signals";
import type { Session } from "@torpor/contract";
import { newKey } from "../api/call.ts";
import { reachable } from "../state/sandboxes.ts";
import type { SessionStream, StreamState } from "../stream/session-stream.ts";
import { streamOf } from "./connect.ts";
import { Emulator } from "./emulator.ts";
import { endWords } from "./end-words.ts";

export interface TerminalOptions {
  readonly sandboxId: string;
  readonly sessionId: string;
  /** Typed, and not entered, when the session's first output is there. */
  readonly typed?: string | undefined;
  readonly leave: () => void;
  readonly search: () => void;
}

/** A session of a sandbox in an element of the page: the stream and the emulator, and what each has to tell the other. */
export class SessionTerminal {
  readonly state = signal<StreamState>({ kind: "away" });
  readonly session = signal<Session | undefined>(undefined);
  readonly emulator: Emulator;
  readonly #stream: SessionStream;
  readonly #release: (() => void)[] = [];
  #typed: string | undefined;

  constructor(element: HTMLElement, options: TerminalOptions) {
    this.#typed = options.typed;
    this.emulator = new Emulator(element, {
      // What has no terminal is only looked at: its input may be none, and its size is nobody's.
      typed: (data) => this.#isTerminal() && this.#stream.write(data),
      fits: (size) => this.#isTerminal() && this.#stream.resize(size),
      leave: options.leave,
      search: options.search,
    });
    this.#stream = streamOf(options.sandboxId, options.sessionId, newKey(), {
      output: (data, done) => {
        this.emulator.write(data, done);
        this.#type();
      },
      started: (session) => {
        this.session.value = session;
        this.emulator.replay(session);
      },
      live: () => this.emulator.live(),
      resized: (size) => this.emulator.resized(size),
      mark: ({ attempt, pid, end }) =>
        this.emulator.remark(
          pid === null ? `process ${attempt} ended${end === null ? "" : `, ${endWords(end)}`}` : `process ${attempt}, pid ${pid}`,
        ),
      gap: () => this.emulator.remark("some output is no longer kept"),
      state: (state) => {
        this.state.value = state;
      },
    });
    const offline = () => this.#stream.interrupt();
    const online = () => this.retry();
    addEventListener("offline", offline);
    addEventListener("online", online);
    this.#release.push(
      () => removeEventListener("offline", offline),
      () => removeEventListener("online", online),
      // A daemon that does not answer calls does not answer here either, though nobody has told the connection.
      effect(() => {
        if (reachable.value) this.retry();
        else this.#stream.interrupt();
      }),
    );
  }

  /** The sandbox runs. */
  connect(): void {
    if (this.#stream.state.kind === "away") this.#stream.connect();
  }

  /** The sandbox does not run (any more). */
  disconnect(): void {
    if (this.#stream.state.kind !== "ended") this.#stream.close();
  }

  /** Now instead of after the rest of the back-off. */
  retry(): void {
    if (this.#stream.state.kind === "reconnecting") this.#stream.connect();
  }

  dispose(): void {
    for (const release of this.#release) release();
    this.#stream.close();
    this.emulator.dispose();
  }

  #isTerminal(): boolean {
    return this.session.value?.terminal !== false;
  }

  #type(): void {
    if (this.#typed === undefined) return;
    this.#stream.write(new TextEncoder().encode(this.#typed));
    this.#typed = undefined;
  }
}
