import { type BeginSessionRequest, type Session, TorporError } from "@torpor/contract";
import { lookUp } from "../commands.ts";
import type { Desk } from "../desk.ts";
import { type GuestUse, useGuest } from "../guest-use.ts";
import { notFound } from "../lifecycle/refusals.ts";
import { StoreConflict } from "../ports/store.ts";
import type { SupervisedRecord } from "../ports/supervised-store.ts";
import { policyOf } from "./policy.ts";
import { viewOf } from "./view.ts";

export type BeginSession = BeginSessionRequest & { readonly sessionId: string };

/** What was started in a sandbox through its guest, and what of it is kept running. */
export interface Sessions {
  begin(idOrName: string, request: BeginSession): Promise<Session>;
  get(idOrName: string, id: string): Promise<Session>;
  list(idOrName: string): Promise<Session[]>;
  /** Of a supervised one: its process runs, or has ended, or is another one, when it resolves. */
  start(idOrName: string, id: string): Promise<Session>;
  stop(idOrName: string, id: string): Promise<Session>;
  restart(idOrName: string, id: string): Promise<Session>;
  remove(idOrName: string, id: string, force: boolean): Promise<void>;
}

export function createSessions(desk: Desk): Sessions {
  const { store } = desk.ports;
  const known = async (guest: GuestUse, id: string): Promise<SupervisedRecord> => {
    const record = await store.findSupervised(guest.sandboxId, id);
    if (record !== undefined) return record;
    await guest.sessions.get(id);
    throw new TorporError("session_not_supervised", `session ${id} is not supervised: it ends once`, {
      hint: "Start it anew, with supervise.",
    });
  };
  const change = async (idOrName: string, id: string, wanted: (now: SupervisedRecord) => SupervisedRecord): Promise<Session> => {
    const guest = await useGuest(desk, idOrName);
    await desk.supervisor.want(await known(guest, id), wanted);
    return one(desk, guest, id);
  };
  const anew = (now: SupervisedRecord): SupervisedRecord => ({
    ...now,
    desired: "running",
    state: "starting",
    nextAt: null,
    reason: null,
    restartedAt: [],
  });
  return {
    begin: (idOrName, request) => begin(desk, idOrName, request),
    get: async (idOrName, id) => one(desk, await useGuest(desk, idOrName), id),
    list: async (idOrName) => {
      const guest = await useGuest(desk, idOrName);
      const [records, sessions] = await Promise.all([store.listSupervised(guest.sandboxId), guest.sessions.list()]);
      const missing = records.filter(({ id }) => !sessions.some((session) => session.id === id));
      return [
        ...missing.map((record) => viewOf(record, undefined)),
        ...sessions.map((session) =>
          viewOf(
            records.find(({ id }) => id === session.id),
            session,
          ),
        ),
      ];
    },
    start: (idOrName, id) =>
      change(idOrName, id, (now) => (now.state === "ready" || now.state === "starting" ? { ...now, desired: "running" } : anew(now))),
    stop: (idOrName, id) => change(idOrName, id, (now) => ({ ...now, desired: "stopped", nextAt: null })),
    restart: (idOrName, id) => change(idOrName, id, (now) => ({ ...anew(now), replaced: now.attempt })),
    async remove(idOrName, id, force) {
      const guest = await useGuest(desk, idOrName);
      const record = await store.findSupervised(guest.sandboxId, id);
      if (record === undefined) return guest.sessions.remove(id, force);
      if (!force && record.state !== "stopped" && record.state !== "failed") {
        throw new TorporError("invalid_request", `session ${id} is kept running`, { hint: "Stop it, or remove it with force." });
      }
      await desk.supervisor.want(record, (now) => ({ ...now, desired: "stopped", nextAt: null }));
      await guest.sessions.remove(id, true).catch(ignoreMissing);
      await desk.supervisor.drop(record);
    },
  };
}

async function begin(desk: Desk, idOrName: string, request: BeginSession): Promise<Session> {
  const { ports, supervisor } = desk;
  const guest = await useGuest(desk, idOrName);
  const { sessionId, supervise, command: _command, argv: _argv, ...start } = request;
  const argv = request.argv ?? (await imageCommand(desk, guest.sandboxId));
  if (supervise === undefined) return guest.sessions.start({ ...start, argv, sessionId, hold: false });
  const record: SupervisedRecord = {
    sandboxId: guest.sandboxId,
    id: sessionId,
    version: 0,
    policy: policyOf(supervise),
    start: { ...start, argv },
    desired: "running",
    state: "starting",
    attempt: 0,
    judged: 0,
    replaced: 0,
    restartedAt: [],
    nextAt: null,
    lastEnd: null,
    reason: null,
    runtimeId: null,
    lastSeq: 0,
    journal: [],
    createdAt: ports.clock.now().toISOString(),
  };
  await insert(desk, record, idOrName);
  await supervisor.look(record.sandboxId, record.id);
  const refusal = supervisor.takeStartError(record.sandboxId, record.id);
  if (refusal !== undefined) {
    await supervisor.drop(record);
    throw refusal;
  }
  return one(desk, guest, sessionId);
}

async function insert({ ports: { store } }: Desk, record: SupervisedRecord, idOrName: string): Promise<void> {
  try {
    await store.commit({ supervised: [record] });
  } catch (error) {
    if (!(error instanceof StoreConflict)) throw error;
    if ((await store.findSandbox(record.sandboxId)) === undefined) throw notFound(idOrName);
    throw new TorporError("idempotency_conflict", `there is a session ${record.id} already`);
  }
}

async function imageCommand({ ports }: Desk, sandboxId: string): Promise<string[]> {
  const { image, name } = await lookUp(ports, sandboxId);
  const config = (await ports.images.find(image.digest))?.config;
  const argv = [...(config?.entrypoint ?? []), ...(config?.cmd ?? [])];
  if (argv.length > 0) return argv;
  throw new TorporError("invalid_request", `the image of sandbox ${name} names no command`, {
    hint: "Give argv: the image has neither ENTRYPOINT nor CMD.",
  });
}

async function one({ ports }: Desk, guest: GuestUse, id: string): Promise<Session> {
  const record = await ports.store.findSupervised(guest.sandboxId, id);
  if (record === undefined) return guest.sessions.get(id);
  return viewOf(record, await guest.sessions.get(id).catch(ignoreMissing));
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof TorporError && error.code === "session_not_found") return undefined;
  throw error;
}
