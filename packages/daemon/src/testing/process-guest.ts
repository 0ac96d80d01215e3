import { TorporError } from "@torpor/contract";
import type { Guest, GuestSessions } from "@torpor/core";
import { directoryFiles } from "./directory-files.ts";
import { hostPorts } from "./host-ports.ts";
import { ProcessSession } from "./process-session.ts";

export interface ProcessGuest extends Guest {
  /** Kills every process and waits for it. */
  destroy(): Promise<void>;
  reopen(): void;
}

/** A guest whose processes are this host's and whose files are those below a directory: for tests. It isolates nothing. */
export function createProcessGuest(root: string): ProcessGuest {
  const all = new Map<string, ProcessSession>();
  const find = (id: string): ProcessSession => {
    const session = all.get(id);
    if (session === undefined) throw new TorporError("session_not_found", `there is no session ${id}`);
    return session;
  };
  const begun = new Set<string>();
  const start: GuestSessions["start"] = async (request) => {
    if (begun.has(request.sessionId)) throw new TorporError("idempotency_conflict", `there is a session ${request.sessionId} already`);
    begun.add(request.sessionId);
    const session = await ProcessSession.start(request, root);
    all.set(request.sessionId, session);
    return session.describe();
  };
  const sessions: GuestSessions = {
    start,
    async *run(request, signal) {
      await start(request);
      yield* find(request.sessionId).attach(0, request.hold, signal);
    },
    async *attach(id, after, hold, signal) {
      yield* find(id).attach(after, hold, signal);
    },
    write: async (id, input) => find(id).write(input),
    async awaitEnd(id) {
      await find(id).ended;
      return find(id).describe();
    },
    resize: async (id, rows, columns) => find(id).resize(rows, columns),
    signal: async (id, signal) => find(id).signal(signal),
    get: async (id) => find(id).describe(),
    list: async () => [...all.values()].map((session) => session.describe()),
    async remove(id, force) {
      const session = find(id);
      if (session.describe().end === null && !force)
        throw new TorporError("invalid_request", `session ${id} runs`, { hint: "Signal it, or remove it with force." });
      if (session.describe().end === null) session.signal("KILL");
      await session.ended;
      all.delete(id);
      begun.delete(id);
    },
  };
  const close = (reason: "paused" | "stopped" | "lost") => {
    for (const session of all.values()) session.close(reason);
  };
  return {
    sessions,
    files: directoryFiles(root),
    ports: hostPorts,
    hello: async () => ({ bootId: "boot", version: "0" }),
    prepare: async () => {},
    prepareStop: async () => {},
    release: async () => {},
    shutdown: async () => {},
    close,
    reopen: () => {
      for (const session of all.values()) session.reopen();
    },
    async destroy() {
      close("stopped");
      await Promise.all([...all.values()].map((session) => session.ended));
    },
  };
}
