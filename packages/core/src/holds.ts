import { describeError } from "./failure.ts";
import { greetRunning } from "./operations/runtime.ts";
import type { Hold } from "./ports/engine.ts";
import type { Ports } from "./ports/ports.ts";
import type { SandboxRecord } from "./ports/store.ts";

/** What the record of a sandbox shows of it. */
export function holdOf({ engine }: Ports, { runtimeId, state, damage }: SandboxRecord): Hold | null {
  return runtimeId === null || damage !== undefined || state === "paused" ? null : engine.held(runtimeId);
}

/** What the engine does by itself for want of room. */
export interface Holds {
  /** After a hold the guest is greeted before anybody else speaks to it. Resolves at once if there was none. */
  settled(runtimeId: string): Promise<void>;
}

/** Writes each hold and each end of one down, one after the other. */
export function watchHolds(ports: Ports): Holds {
  const begun = new Map<string, Hold>();
  const settling = new Map<string, Promise<void>>();
  ports.engine.onHold((runtimeId, hold) => {
    const before = begun.get(runtimeId);
    if (hold === null) begun.delete(runtimeId);
    else begun.set(runtimeId, hold);
    const settled: Promise<void> = (settling.get(runtimeId) ?? Promise.resolve())
      .then(() => (hold === null ? ended(ports, runtimeId, before) : held(ports, runtimeId, hold)))
      .catch((error: unknown) =>
        ports.log.error("that a sandbox is held could not be dealt with", { runtime: runtimeId, cause: describeError(error) }),
      )
      .finally(() => {
        if (settling.get(runtimeId) === settled) settling.delete(runtimeId);
      });
    settling.set(runtimeId, settled);
  });
  return { settled: async (runtimeId) => settling.get(runtimeId) };
}

async function held(ports: Ports, runtimeId: string, hold: Hold): Promise<void> {
  const sandbox = await ownerOf(ports, runtimeId);
  if (sandbox === undefined) return;
  ports.log.error("the pool is full: a sandbox is held until there is room", {
    sandbox: sandbox.id,
    cause: hold.lost ?? "nothing is lost",
  });
  // A daemon that was started anew hears of it again.
  const told = await ports.store.listEvents({ sandboxId: sandbox.id });
  if (told.some(({ type, data }) => type === "sandbox.held" && data.since === hold.since)) return;
  await tell(ports, sandbox, "sandbox.held", { reason: "disk_full", ...hold });
}

async function ended(ports: Ports, runtimeId: string, before: Hold | undefined): Promise<void> {
  const sandbox = await ownerOf(ports, runtimeId);
  if (sandbox === undefined) return;
  // It may not know this daemon yet, or have been told to let nothing new begin before it was held. An operation at work does it by itself.
  if (sandbox.state === "running" && sandbox.operationId === null) await greetAgain(ports, sandbox, runtimeId);
  const heldMs = before === undefined ? null : ports.clock.now().getTime() - Date.parse(before.since);
  await tell(ports, sandbox, "sandbox.released", { reason: "disk_full", heldMs });
}

/** Its shim may be a new one too, to which the guest comes back a moment later. */
async function greetAgain(ports: Ports, sandbox: SandboxRecord, runtimeId: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await greetRunning(ports, sandbox, runtimeId);
    } catch (error) {
      if (tries === greetTries || ports.engine.held(runtimeId) !== null) throw error;
      await ports.clock.sleep(greetPauseMs * 2 ** tries);
    }
  }
}

const greetTries = 6;
const greetPauseMs = 25;

async function ownerOf({ store }: Ports, runtimeId: string): Promise<SandboxRecord | undefined> {
  return (await store.listSandboxes()).find((record) => record.runtimeId === runtimeId && record.damage === undefined);
}

async function tell({ store, clock }: Ports, { id }: SandboxRecord, type: string, data: Record<string, unknown>): Promise<void> {
  await store.commit({ events: [{ sandboxId: id, operationId: null, type, data, at: clock.now().toISOString() }] });
}
