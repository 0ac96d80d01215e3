import { type SessionEnd, TorporError } from "@torpor/contract";
import type { Guest, GuestFiles, GuestPorts, GuestSessions, Identity, SessionFrame, SessionStart } from "../ports/guest.ts";
import { memoryFiles } from "./memory-files.ts";
import type { MemoryRuntime } from "./memory-runtime.ts";

type CloseReason = "paused" | "stopped" | "lost";

/** One line to one runtime. While the runtime is frozen its calls wait for the thaw, or for the line's end. */
export class MemoryGuest implements Guest {
  readonly sessions: GuestSessions;
  readonly files: GuestFiles;
  readonly ports: GuestPorts;
  closed: CloseReason | null = null;
  readonly #runtime: MemoryRuntime;
  readonly #exit: () => void;
  #greeted = false;

  /** `exit` is what PID 1 does at the end of a shutdown. */
  constructor(runtime: MemoryRuntime, exit: () => void) {
    this.#runtime = runtime;
    this.#exit = exit;
    this.sessions = sessionsOf(this, runtime);
    this.files = memoryFiles(runtime, () => this.ready());
    this.ports = {
      connect: async (port, input) => {
        await this.ready();
        return memoryPort(runtime, port, input);
      },
    };
  }

  async hello(identity: Identity): Promise<{ bootId: string; version: string }> {
    await this.#awake();
    this.#greeted = true;
    this.#runtime.memory.identity = identity;
    this.#runtime.memory.prepared = false;
    return { bootId: this.#runtime.memory.bootId, version: "memory" };
  }

  async prepare(): Promise<void> {
    await this.ready();
    this.#runtime.memory.prepared = true;
  }

  async prepareStop(): Promise<void> {
    await this.prepare();
    this.#runtime.memory.stopping = true;
  }

  async release(): Promise<void> {
    await this.ready();
    this.#runtime.memory.prepared = false;
  }

  async shutdown(_graceMs: number): Promise<void> {
    await this.ready();
    this.#runtime.memory.stopping = true;
    this.#runtime.endAllSessions();
    this.#exit();
  }

  close(reason: CloseReason): void {
    this.closed ??= reason;
    this.#runtime.notify();
  }

  /** Before each call but hello. */
  async ready(): Promise<void> {
    await this.#awake();
    if (!this.#greeted) throw new Error("the first call on a line is hello");
  }

  ended(): SessionEnd["reason"] | null {
    return this.closed ?? (this.#runtime.state === "ended" ? "lost" : null);
  }

  async #awake(): Promise<void> {
    for (;;) {
      const reason = this.ended();
      if (reason === "paused") throw new TorporError("session_paused", "the sandbox was paused");
      if (reason !== null) throw new TorporError("sandbox_not_running", "the sandbox's runtime has ended");
      if (this.#runtime.state === "running") return;
      await this.#runtime.changed();
    }
  }
}

/** What `listen PORT` answers: each byte that comes. */
function memoryPort(runtime: MemoryRuntime, port: number, input: AsyncIterable<Uint8Array>): { content: AsyncIterable<Uint8Array> } {
  const listens = runtime.memory.processes.some(({ argv }) => argv[0] === "listen" && Number(argv[1]) === port);
  if (!listens) throw new TorporError("port_closed", `nothing listens on port ${port} in the sandbox`);
  return { content: input };
}

function sessionsOf(guest: MemoryGuest, runtime: MemoryRuntime): GuestSessions {
  const need = (sessionId: string) => {
    const kept = runtime.find(sessionId);
    if (kept === undefined) throw new TorporError("session_not_found", `the sandbox has no session ${sessionId}`);
    return kept;
  };
  const start = async (asked: SessionStart) => {
    await guest.ready();
    if (runtime.memory.prepared) throw new TorporError("session_paused", "the sandbox is about to freeze");
    return runtime.startSession(asked, "2026-01-01T00:00:00.000Z");
  };
  async function* attach(sessionId: string, after: number, signal?: AbortSignal): AsyncIterable<SessionFrame> {
    await guest.ready();
    yield { type: "started", session: need(sessionId).session };
    for (let seen = after; signal?.aborted !== true; ) {
      const output = runtime.state === "frozen" ? undefined : runtime.outputAfter(sessionId, seen);
      const end = runtime.find(sessionId)?.session.end ?? null;
      const reason = guest.ended();
      if (output !== undefined && guest.closed === null) {
        seen = output.seq;
        yield output;
      } else if (end !== null && runtime.state !== "frozen") {
        yield { type: "end", end };
        return;
      } else if (reason !== null) {
        yield { type: "end", end: { reason, exitCode: null, signal: null, oom: false } };
        return;
      } else await runtime.changed(signal);
    }
  }
  return {
    async *run(asked, signal) {
      await start(asked);
      yield* attach(asked.sessionId, 0, signal);
    },
    start,
    attach: (sessionId, after, _hold, signal) => attach(sessionId, after, signal),
    async write(sessionId, input) {
      await guest.ready();
      need(sessionId);
      return runtime.take(sessionId, input);
    },
    async resize(sessionId) {
      await guest.ready();
      need(sessionId);
    },
    async signal(sessionId, signal) {
      await guest.ready();
      need(sessionId);
      runtime.endSession(sessionId, { reason: "killed", exitCode: signal === "KILL" ? 137 : 143, signal });
    },
    async get(sessionId) {
      await guest.ready();
      return need(sessionId).session;
    },
    async awaitEnd(sessionId, attempt, signal) {
      for (;;) {
        await guest.ready();
        const { session } = need(sessionId);
        if (session.attempt > attempt || session.end !== null || session.lastEnd !== null) return session;
        await runtime.changed(signal);
        if (signal?.aborted === true) throw new TorporError("timeout", "the wait was given up");
      }
    },
    async list() {
      await guest.ready();
      return runtime.memory.sessions.map(({ session }) => session);
    },
    async remove(sessionId) {
      await guest.ready();
      need(sessionId);
      runtime.endSession(sessionId, { reason: "killed", exitCode: 137, signal: "KILL" });
      runtime.memory.sessions = runtime.memory.sessions.filter(({ session }) => session.id !== sessionId);
    },
  };
}
