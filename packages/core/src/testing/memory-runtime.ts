import { type SessionEnd, type SessionMark, TorporError } from "@torpor/contract";
import type { RuntimeEnd, RuntimeSpec } from "../ports/engine.ts";
import type { GuestSession, Identity, JournalFrame, SessionInput, SessionStart } from "../ports/guest.ts";
import type { MemoryDisk, MemoryFile } from "./memory-disks.ts";
import { type MemoryProcess, programOf } from "./memory-programs.ts";

interface KeptFrame {
  readonly seq: number;
  readonly text?: string;
  readonly mark?: SessionMark;
}
interface KeptSession {
  session: GuestSession;
  readonly supervised: boolean;
  readonly output: KeptFrame[];
  /** Bytes of input by client. */
  readonly taken: Record<string, number>;
}

/** Everything that a checkpoint holds. */
interface Memory {
  bootId: string;
  identity: Identity | null;
  /** Between prepare and the release or hello: nothing new may begin. */
  prepared: boolean;
  /** What ends has been stopped. */
  stopping: boolean;
  nextPid: number;
  processes: MemoryProcess[];
  sessions: KeptSession[];
  /** Files below /tmp and /run. */
  volatile: [string, MemoryFile][];
}

/** One incarnation: processes and their memory, which go on only while it is running. */
export class MemoryRuntime {
  readonly spec: RuntimeSpec;
  readonly diskId: string;
  readonly #disk: MemoryDisk;
  state: "running" | "frozen" | "ended" = "running";
  end: RuntimeEnd | null = null;
  /** Steps that it went on by. */
  ticks = 0;
  readonly #memory: Memory;
  #waiting: (() => void)[] = [];

  constructor(spec: RuntimeSpec, { id, disk }: { id: string; disk: MemoryDisk }, memory?: string) {
    this.spec = spec;
    this.diskId = id;
    this.#disk = disk;
    this.#memory = memory === undefined ? freshMemory(spec.runtimeId) : (JSON.parse(memory) as Memory);
  }

  dump(): string {
    return JSON.stringify(this.#memory);
  }

  get memory(): Memory {
    return this.#memory;
  }

  /** Resolves at the next change of anything. */
  changed(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      signal?.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** One step of every program that counts. */
  tick(): void {
    if (this.state !== "running") return;
    this.ticks++;
    for (const process of [...this.#memory.processes]) programOf(process.argv)?.tick?.(process, this.#outputOf(process));
    this.notify();
  }

  startSession({ sessionId, argv, user, workdir, terminal, supervised }: SessionStart, startedAt: string): GuestSession {
    const present = this.find(sessionId);
    const succeeds = present?.supervised === true && present.session.lastEnd !== null && supervised !== undefined;
    if (present !== undefined && !succeeds) return present.session;
    const program = programOf(argv);
    if (program === undefined) throw new TorporError("command_not_started", `there is no program ${argv[0]} in the sandbox`);
    const process: MemoryProcess = { pid: this.#memory.nextPid++, sessionId, argv, count: 0 };
    const former = (supervised?.journal ?? []).map(keep);
    const session: GuestSession = {
      id: sessionId,
      argv: [...argv],
      pid: process.pid,
      terminal: terminal !== undefined,
      user: user ?? this.#memory.identity?.user ?? "root",
      workdir: workdir ?? this.#memory.identity?.workdir ?? "/",
      startedAt,
      firstSeq: present?.session.firstSeq ?? former[0]?.seq ?? 1,
      lastSeq: present?.session.lastSeq ?? supervised?.after ?? 0,
      size: terminal === undefined ? null : { rows: terminal.rows, columns: terminal.columns },
      end: null,
      attempt: supervised?.attempt ?? 1,
      lastEnd: null,
    };
    this.#memory.processes.push(process);
    if (present !== undefined) present.session = session;
    else this.#memory.sessions.push({ session, supervised: supervised !== undefined, output: former, taken: {} });
    this.#mark(sessionId, { attempt: session.attempt, pid: session.pid, end: null });
    program.start?.(process, this.#outputOf(process));
    this.notify();
    return session;
  }

  /** What the session has not had yet goes to its process. */
  take(sessionId: string, { client, offset, data, end }: SessionInput): number {
    const taken = this.find(sessionId)?.taken ?? {};
    const fresh = data.subarray(Math.max(0, (taken[client] ?? 0) - offset));
    taken[client] = (taken[client] ?? 0) + fresh.length;
    if (fresh.length > 0 || end) this.#input(sessionId, new TextDecoder().decode(fresh), end);
    return taken[client];
  }

  #input(sessionId: string, text: string, eof: boolean): void {
    const process = this.#memory.processes.find((each) => each.sessionId === sessionId);
    if (process === undefined) throw new TorporError("session_ended", `session ${sessionId} has ended`);
    programOf(process.argv)?.input?.(text, eof, this.#outputOf(process));
    this.notify();
  }

  endSession(sessionId: string, end: Partial<SessionEnd>): void {
    this.#memory.processes = this.#memory.processes.filter((each) => each.sessionId !== sessionId);
    const kept = this.find(sessionId);
    const whole: SessionEnd = { reason: "exited", exitCode: null, signal: null, oom: false, ...end };
    if (this.#memory.stopping) whole.reason = "stopped";
    if (kept?.supervised === true && kept.session.lastEnd === null) {
      kept.session = { ...kept.session, lastEnd: whole };
      this.#mark(sessionId, { attempt: kept.session.attempt, pid: null, end: whole });
    } else if (kept?.supervised === false && kept.session.end === null) {
      kept.session = { ...kept.session, end: whole };
    }
    this.notify();
  }

  endAllSessions(): void {
    for (const { sessionId } of [...this.#memory.processes])
      this.endSession(sessionId, { reason: "killed", exitCode: 143, signal: "TERM" });
  }

  find(sessionId: string): KeptSession | undefined {
    return this.#memory.sessions.find(({ session }) => session.id === sessionId);
  }

  outputAfter(sessionId: string, after: number): JournalFrame | undefined {
    const found = this.find(sessionId)?.output.find(({ seq }) => seq > after);
    if (found?.mark !== undefined) return { type: "mark", seq: found.seq, mark: found.mark };
    return found && { type: "output", seq: found.seq, stream: "stdout", data: new TextEncoder().encode(found.text) };
  }

  #mark(sessionId: string, mark: SessionMark): void {
    const kept = this.find(sessionId);
    if (kept?.supervised === true) this.#add(kept, { mark });
  }

  #add(kept: KeptSession, frame: Omit<KeptFrame, "seq">): void {
    kept.session = { ...kept.session, lastSeq: kept.session.lastSeq + 1 };
    kept.output.push({ seq: kept.session.lastSeq, ...frame });
  }

  readFile(path: string): MemoryFile | undefined {
    return isVolatile(path) ? this.#memory.volatile.find(([name]) => name === path)?.[1] : this.#disk.files.get(path);
  }

  writeFile(path: string, file: MemoryFile): void {
    this.removeFile(path);
    if (isVolatile(path)) this.#memory.volatile.push([path, file]);
    else this.#disk.files.set(path, file);
  }

  removeFile(path: string): void {
    if (isVolatile(path)) this.#memory.volatile = this.#memory.volatile.filter(([name]) => name !== path);
    else this.#disk.files.delete(path);
  }

  paths(): string[] {
    return [...this.#disk.files.keys(), ...this.#memory.volatile.map(([name]) => name)].sort();
  }

  #outputOf(process: MemoryProcess) {
    return {
      print: (text: string) => {
        const kept = this.find(process.sessionId);
        if (kept !== undefined) this.#add(kept, { text });
      },
      exit: (exitCode: number) => this.endSession(process.sessionId, { exitCode }),
    };
  }
}

function keep(frame: JournalFrame): KeptFrame {
  return frame.type === "mark" ? { seq: frame.seq, mark: frame.mark } : { seq: frame.seq, text: new TextDecoder().decode(frame.data) };
}

function freshMemory(runtimeId: string): Memory {
  return {
    bootId: `boot-of-${runtimeId}`,
    identity: null,
    prepared: false,
    stopping: false,
    nextPid: 2,
    processes: [],
    sessions: [],
    volatile: [],
  };
}

function isVolatile(path: string): boolean {
  return /^\/(tmp|run|dev\/shm)\//.test(path);
}
