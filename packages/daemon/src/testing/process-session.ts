import { type ChildProcess, spawn } from "node:child_process";
import { type Session, type SessionEnd, TorporError } from "@torpor/contract";
import type { GuestSession, SessionFrame, SessionInput, SessionStart } from "@torpor/core";
import { terminalCommand } from "./terminal-command.ts";

type Output = Extract<SessionFrame, { type: "output" }>;

/** Ring of output, in bytes, as the guest has it. */
const defaultRingBytes = 1024 * 1024;

/** A session that is a process of this host: for tests of what stands above the guest. */
export class ProcessSession {
  readonly #start: SessionStart;
  readonly #ringBytes: number;
  readonly #child: ChildProcess;
  readonly #cwd: string;
  readonly #startedAt = new Date().toISOString();
  readonly #wakers = new Set<() => void>();
  #frames: Output[] = [];
  #bytes = 0;
  #lastSeq = 0;
  #size: Session["size"] = null;
  #resized = Promise.resolve();
  readonly #taken = new Map<string, number>();
  #holders = 0;
  #end: SessionEnd | undefined;
  #timedOut = false;
  /** Set when the line to the guest closed: readers end with it, the process does not. */
  #closed: SessionEnd | undefined;

  static async start(start: SessionStart, root: string): Promise<ProcessSession> {
    const session = new ProcessSession(start, root);
    await session.#spawned();
    return session;
  }

  private constructor(start: SessionStart, root: string) {
    this.#start = start;
    this.#ringBytes = start.journalBytes ?? defaultRingBytes;
    this.#cwd = root;
    if (start.terminal !== undefined) this.#size = { rows: start.terminal.rows, columns: start.terminal.columns };
    const [program, ...args] = start.terminal === undefined ? start.argv : terminalCommand(start.argv, start.terminal, this.#ttyFile);
    this.#child = spawn(program as string, args, {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        HOME: root,
        ...(start.terminal === undefined ? {} : { TERM: start.terminal.term ?? "xterm" }),
        ...start.env,
      },
      stdio: [start.stdin === true || start.terminal !== undefined ? "pipe" : "ignore", "pipe", "pipe"],
      // A group of its own, for signals.
      detached: true,
    });
    this.#child.on("error", () => {});
    this.#child.stdin?.on("error", () => {});
    this.#child.stdout?.on("data", (data: Buffer) => this.#add(start.terminal === undefined ? "stdout" : "terminal", data));
    this.#child.stderr?.on("data", (data: Buffer) => this.#add(start.terminal === undefined ? "stderr" : "terminal", data));
    this.#child.once("close", (code, signal) => this.#finish(code, signal));
    if (start.timeoutMs !== undefined) {
      const timer = setTimeout(() => {
        this.#timedOut = true;
        this.signal("KILL");
      }, start.timeoutMs);
      this.#child.once("close", () => clearTimeout(timer));
    }
  }

  get #ttyFile(): string {
    return `${this.#cwd}/.tty-${this.#start.sessionId}`;
  }

  describe(): GuestSession {
    return {
      id: this.#start.sessionId,
      argv: [...this.#start.argv],
      pid: this.#child.pid ?? 0,
      terminal: this.#start.terminal !== undefined,
      user: this.#start.user ?? "root",
      workdir: this.#start.workdir ?? "/",
      startedAt: this.#startedAt,
      firstSeq: this.#frames[0]?.seq ?? 0,
      lastSeq: this.#lastSeq,
      size: this.#size,
      end: this.#end ?? null,
      attempt: 1,
      lastEnd: this.#end ?? null,
    };
  }

  async *attach(after: number, hold: boolean, signal?: AbortSignal): AsyncGenerator<SessionFrame> {
    if (after > this.#lastSeq) throw new TorporError("invalid_request", `there is no frame ${after}`);
    yield { type: "started", session: this.describe() };
    let seen = after;
    if (hold) this.#holders++;
    const wake = () => this.#wake();
    signal?.addEventListener("abort", wake);
    try {
      for (;;) {
        const frame = this.#frames.find(({ seq }) => seq > seen);
        if (signal?.aborted) return;
        if (frame !== undefined) {
          if (frame.seq > seen + 1) throw new TorporError("session_output_gone", `the oldest frame is ${frame.seq}`);
          yield frame;
          seen = frame.seq;
          if (hold) this.#release(seen);
          continue;
        }
        const end = this.#end ?? this.#closed;
        if (end !== undefined) return yield { type: "end", end };
        await new Promise<void>((resolve) => this.#wakers.add(resolve));
      }
    } finally {
      signal?.removeEventListener("abort", wake);
      if (hold) this.#holders--;
      this.#flow();
    }
  }

  async write({ client, offset, data, end }: SessionInput): Promise<number> {
    const { stdin } = this.#child;
    if (stdin === null || this.#end !== undefined) throw new TorporError("session_ended", "the session takes no input");
    const taken = this.#taken.get(client) ?? 0;
    if (offset > taken) throw new TorporError("invalid_request", `input has a gap: ${taken} bytes were taken, these begin at ${offset}`);
    const fresh = data.subarray(taken - offset);
    if (fresh.length > 0) {
      this.#taken.set(client, taken + fresh.length);
      await new Promise<void>((resolve, reject) =>
        stdin.write(fresh, (error) => (error == null ? resolve() : reject(new TorporError("session_ended", error.message)))),
      );
    }
    if (end) stdin.end();
    return taken + fresh.length;
  }

  signal(name: string): void {
    if (this.#end !== undefined) throw new TorporError("session_ended", `session ${this.#start.sessionId} has ended`);
    try {
      process.kill(-(this.#child.pid as number), `SIG${name.replace(/^SIG/, "")}` as NodeJS.Signals);
    } catch {
      // It is ending at this moment.
    }
  }

  resize(rows: number, columns: number): void {
    this.#size = { rows, columns };
    this.#resized = this.#resized.then(() => this.#setSize(rows, columns));
  }

  /** When the terminal is there, which is written down when it has its first size. */
  #setSize(rows: number, columns: number): Promise<void> {
    const script = 'until [ -s "$1" ]; do [ -d "$5" ] && kill -0 "$4" || exit; sleep 0.05; done; stty -F "$(cat "$1")" rows "$2" cols "$3"';
    const args = ["-c", script, "sh", this.#ttyFile, String(rows), String(columns), String(this.#child.pid), this.#cwd];
    return new Promise((resolve) => spawn("sh", args, { stdio: "ignore" }).once("close", () => resolve()));
  }

  close(reason: "paused" | "stopped" | "lost"): void {
    this.#closed = { reason, exitCode: null, signal: null, oom: false };
    if (reason === "stopped" && this.#end === undefined) this.signal("KILL");
    this.#wake();
  }

  reopen(): void {
    this.#closed = undefined;
  }

  get ended(): Promise<void> {
    if (this.#end !== undefined || this.#child.pid === undefined) return Promise.resolve();
    return new Promise((resolve) => this.#child.once("close", () => resolve()));
  }

  #spawned(): Promise<void> {
    const [program] = this.#start.argv;
    return new Promise((resolve, reject) => {
      this.#child.once("spawn", resolve);
      this.#child.once("error", (error: NodeJS.ErrnoException) => {
        const exitCode = error.code === "ENOENT" ? 127 : 126;
        const why = exitCode === 127 ? "no such program" : "it can't be executed";
        reject(new TorporError("command_not_started", `${program}: ${why}`, { details: { exitCode } }));
      });
    });
  }

  #add(stream: Output["stream"], data: Buffer): void {
    this.#lastSeq++;
    this.#frames.push({ type: "output", seq: this.#lastSeq, stream, data });
    this.#bytes += data.length;
    this.#flow();
    this.#wake();
  }

  /** With a holding reader the process waits when the ring is full, without one the oldest frames go. */
  #flow(): void {
    const streams = [this.#child.stdout, this.#child.stderr];
    if (this.#holders > 0 || this.#lastSeq === 0) {
      for (const stream of streams) this.#bytes > this.#ringBytes ? stream?.pause() : stream?.resume();
      return;
    }
    while (this.#bytes > this.#ringBytes && this.#frames.length > 1) this.#bytes -= (this.#frames.shift() as Output).data.length;
    for (const stream of streams) stream?.resume();
  }

  #release(seen: number): void {
    while (this.#bytes > this.#ringBytes && (this.#frames[0]?.seq ?? Number.POSITIVE_INFINITY) <= seen)
      this.#bytes -= (this.#frames.shift() as Output).data.length;
    this.#flow();
  }

  #finish(code: number | null, signal: NodeJS.Signals | null): void {
    const number = signal === null ? 0 : (signalNumbers[signal] ?? 0);
    // The memory watch is the guest's: a test says by the environment that it was it.
    const oom = this.#start.env?.TEST_END === "oom";
    const itself = this.#closed?.reason === "stopped" ? "stopped" : "exited";
    this.#end = { reason: this.#timedOut ? "timeout" : oom ? "oom" : itself, exitCode: code ?? 128 + number, signal, oom };
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakers) wake();
    this.#wakers.clear();
  }
}

const signalNumbers: Partial<Record<NodeJS.Signals, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};
