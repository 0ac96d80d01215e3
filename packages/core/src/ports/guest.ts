import type { Entry, FileChange, ForkOrigin, Session, SessionEnd, SessionMark, StartSessionRequest } from "@torpor/contract";

/** What a runtime is told about itself before anything else is let in. */
export interface Identity {
  readonly sandboxId: string;
  readonly name: string;
  readonly hostname: string;
  readonly generation: number;
  readonly origin: "boot" | "resumed" | "forked" | "reconnected";
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly user: string;
  readonly parentId: string | null;
  /** Which child of its fork it is; null: of none. */
  readonly fork: Pick<ForkOrigin, "index" | "count"> | null;
  /** The command torpor is in the PATH of new sessions. */
  readonly selfControl: boolean;
  readonly memoryBytes: number;
  readonly pids: number;
  readonly address: string | null;
  /** Nameserver for /etc/resolv.conf, written at a boot; null leaves the file. */
  readonly resolver: string | null;
}

export type SessionFrame =
  | { readonly type: "started"; readonly session: Session }
  | { readonly type: "output"; readonly seq: number; readonly stream: "stdout" | "stderr" | "terminal"; readonly data: Uint8Array }
  /** In a supervised session, between what two of its processes put out. */
  | { readonly type: "mark"; readonly seq: number; readonly mark: SessionMark }
  | { readonly type: "end"; readonly end: SessionEnd };

export interface SessionStart extends StartSessionRequest {
  readonly sessionId: string;
  readonly hold: boolean;
  /** Its journal outlives its process. A start under the id of one whose process has ended begins the next one in the same journal. */
  readonly supervised?: {
    /** Its number. */
    readonly attempt: number;
    /** The last frames that a former runtime had of it, and their last number: numbering goes on from there. */
    readonly after: number;
    readonly journal: readonly JournalFrame[];
  };
}

export type JournalFrame = Extract<SessionFrame, { type: "output" | "mark" }>;

/** A session as the guest knows it. */
export interface GuestSession extends Session {
  /** Processes begun so far. */
  readonly attempt: number;
  /** Of a supervised one whose process does not run. */
  readonly lastEnd: SessionEnd | null;
}

export interface SessionInput {
  /** Whose input it is: each client's is counted for itself. Empty: that of all. */
  readonly client: string;
  /** Where in it the first byte stands. */
  readonly offset: number;
  readonly data: Uint8Array;
  readonly end: boolean;
}

export interface GuestSessions {
  /** Starts a session and streams its frames from the first on. The stream's consumer sets the pace. */
  run(start: SessionStart, signal?: AbortSignal): AsyncIterable<SessionFrame>;
  start(start: SessionStart): Promise<GuestSession>;
  /** With `hold` the process waits for this reader; of a `client` for the newest only, since the one before may be a dead connection. */
  attach(sessionId: string, after: number, hold: boolean, signal?: AbortSignal, client?: string): AsyncIterable<SessionFrame>;
  /**
   * Resolves when the process took the bytes: the back-pressure. Bytes that it had before are dropped. It gives how many of the client's it has
   * by now; with no bytes it only asks.
   */
  write(sessionId: string, input: SessionInput): Promise<number>;
  resize(sessionId: string, rows: number, columns: number): Promise<void>;
  signal(sessionId: string, signal: string): Promise<void>;
  get(sessionId: string): Promise<GuestSession>;
  list(): Promise<GuestSession[]>;
  /** Resolves when the process of this attempt has ended, or another one has begun. */
  awaitEnd(sessionId: string, attempt: number, signal?: AbortSignal): Promise<GuestSession>;
  remove(sessionId: string, force: boolean): Promise<void>;
}

export interface GuestFiles {
  stat(path: string, options: { user?: string; follow?: boolean }): Promise<Entry>;
  list(path: string, options: { user?: string; depth?: number }): Promise<Entry[]>;
  read(
    path: string,
    options: { user?: string; offset?: number; length?: number; signal?: AbortSignal },
  ): Promise<{ entry: Entry; content: AsyncIterable<Uint8Array> }>;
  write(path: string, content: AsyncIterable<Uint8Array>, options: { user?: string; mode?: number; parents?: boolean }): Promise<Entry>;
  /** Batches of what happens to a file or in a directory, the first empty: from then on nothing is missed. Ends when the signal aborts; throws when the path is gone. */
  watch(path: string, options: { recursive?: boolean; signal?: AbortSignal }): AsyncIterable<readonly FileChange[]>;
  makeDirectory(path: string, options: { user?: string; parents?: boolean; mode?: number }): Promise<Entry>;
  move(from: string, to: string, options: { user?: string }): Promise<Entry>;
  remove(path: string, options: { user?: string; recursive?: boolean }): Promise<void>;
  readArchive(path: string, options: { user?: string; follow?: boolean; signal?: AbortSignal }): AsyncIterable<Uint8Array>;
  writeArchive(path: string, content: AsyncIterable<Uint8Array>, options: { user?: string }): Promise<{ files: number; bytes: number }>;
}

export interface GuestPorts {
  /**
   * Connects to what listens on a port inside, whatever network the sandbox has; resolves when it is connected. `input` is what goes in: its end is
   * that of this side alone. `content` ends when the program has ended its own. Nothing listens: `port_closed`.
   */
  connect(port: number, input: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<{ readonly content: AsyncIterable<Uint8Array> }>;
}

/**
 * The line to PID 1 of one runtime. All calls fail with a `TorporError`; after the runtime's end or freeze with
 * `session_paused` or `sandbox_not_running`, never by hanging.
 */
export interface Guest {
  hello(identity: Identity): Promise<{ bootId: string; version: string }>;
  /** Before a freeze: no new sessions, dirty files to the disk. */
  prepare(): Promise<void>;
  /** Before a shutdown: no new sessions, and those that end from now on, however they do, have the reason `stopped`. */
  prepareStop(): Promise<void>;
  /** The freeze is over or was given up. */
  release(): Promise<void>;
  /** TERM to all, KILL after the grace, sync; answers before PID 1 exits. */
  shutdown(graceMs: number): Promise<void>;
  readonly sessions: GuestSessions;
  readonly files: GuestFiles;
  readonly ports: GuestPorts;
  /** Ends the line: open streams end with the reason. */
  close(reason: "paused" | "stopped" | "lost"): void;
}
