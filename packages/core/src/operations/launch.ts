import { type ErrorCode, type ResumeMemory, TorporError } from "@torpor/contract";
import { describeError } from "../failure.ts";
import type { SandboxRecord } from "../ports/store.ts";
import { runsFrom } from "../time/instants.ts";
import { failureOf, leftover, quietly } from "./aftermath.ts";
import { type Failing, note, type Outcome, optionalNote, type Phase, type Work } from "./procedure.ts";
import { allEnded, boot, cloneAnew, type Incarnation, readCheckpoint, restore } from "./runtime.ts";

/**
 * What says that the memory can't be had back: the checkpoint itself, or an engine that refused it. Anything else (no room, a host that can't make
 * a mount, a fault of ours) may pass, and a fresh boot would throw the memory away for it: the sandbox stays paused.
 */
export const lostMemory: ReadonlySet<ErrorCode> = new Set(["checkpoint_corrupt", "checkpoint_incompatible", "restore_failed"]);
/** One restore in a thousand was reported to fail for nothing (google/gvisor#11842): these are tried once more. */
const worthAnotherTry: ReadonlySet<ErrorCode> = new Set(["restore_failed", "engine_failed"]);
const restoreTries = 2;

/** A new runtime for a sandbox that has none: from its checkpoint, or fresh from its disk. */
export const launch: Phase = {
  name: "launch",
  async run(work) {
    const { sandbox } = work;
    await destroyLeftovers(work);
    const memory = sandbox.checkpoint === null ? "discard" : modeOf(work);
    if (memory === "discard" || sandbox.checkpoint === null) {
      await bootFresh(work);
      const reason = modeOf(work) === "discard" ? null : `sandbox ${sandbox.name} was paused with files only`;
      return { notes: { restored: "files", reason, keepsCheckpoint: false } };
    }
    const error = await tryRestore(work, sandbox.checkpoint.id);
    if (error === null) return { notes: { restored: "memory", reason: null, keepsCheckpoint: false } };
    if (memory === "require" || !lostMemory.has(error.code)) throw error;
    await bootFresh(work);
    return { notes: { restored: "files", reason: error.message, keepsCheckpoint: true } };
  },
};

export async function undoLaunch(work: Work): Promise<void> {
  const { ports, sandbox } = work;
  const diskId = note(work, "diskId");
  await quietly(ports, "undoing a launch", [
    () => ports.engine.destroy(note(work, "runtimeId")),
    async () => {
      if (diskId !== sandbox.diskId) await ports.disks.remove(diskId);
    },
  ]);
}

/** The record of a sandbox that runs again. Its old disk and a checkpoint that was used up are garbage. */
export function launched(work: Work): Outcome & { readonly sandbox: Partial<SandboxRecord> } {
  const { ports, sandbox, operation } = work;
  const restored = note(work, "restored") === "memory" ? "memory" : "files";
  const keepsCheckpoint = operation.notes.keepsCheckpoint === true;
  const diskId = note(work, "diskId");
  const now = ports.clock.now();
  return {
    sandbox: {
      ...runsFrom(sandbox, now),
      state: "running",
      runtimeId: note(work, "runtimeId"),
      diskId,
      generation: sandbox.generation + 1,
      // Kept for whoever wants to know why, until the next pause, stop or removal; it fits no disk any more.
      checkpoint: keepsCheckpoint ? sandbox.checkpoint : null,
      restored,
      failure: null,
      startedAt: now.toISOString(),
      pausedAt: null,
      stoppedAt: null,
    },
    events: [],
    garbage: {
      disks: diskId === sandbox.diskId || sandbox.diskId === null ? [] : [sandbox.diskId],
      checkpoints: keepsCheckpoint || sandbox.checkpoint === null ? [] : [sandbox.checkpoint.id],
    },
  };
}

/** As it was before, with the cause; checkpoint and disk are untouched. */
export async function launchFailed(work: Work, failing: Failing): Promise<Outcome> {
  const { ports, operation } = work;
  const state = operation.notes.prior as SandboxRecord["state"];
  const runtimeId = await leftover(ports, note(work, "runtimeId"));
  return { sandbox: { state, failure: failureOf(ports, failing), runtimeId }, events: [] };
}

export function lossOf(work: Work): string | null {
  return note(work, "restored") === "files" ? optionalNote(work, "reason") : null;
}

function modeOf({ operation }: Work): ResumeMemory {
  if (operation.kind === "start") return "discard";
  return (operation.request.memory as ResumeMemory | undefined) ?? "prefer";
}

/** Of an ending that failed, and of earlier attempts of this launch: never two runtimes. */
async function destroyLeftovers(work: Work): Promise<void> {
  const { ports, sandbox, repeated } = work;
  if (sandbox.runtimeId !== null) await ports.engine.destroy(sandbox.runtimeId);
  if (repeated) await ports.engine.destroy(note(work, "runtimeId"));
}

async function tryRestore(work: Work, checkpointId: string): Promise<TorporError | null> {
  for (let tries = 1; ; tries++) {
    try {
      await restoreOnce(work, checkpointId);
      return null;
    } catch (cause) {
      const error =
        cause instanceof TorporError
          ? cause
          : new TorporError("internal", `memory of sandbox ${work.sandbox.name} could not be restored for a fault in torpord`, { cause });
      work.ports.log.error("a restore failed", { sandbox: work.sandbox.id, tries, cause: describeError(cause) });
      await work.ports.engine.destroy(note(work, "runtimeId"));
      if (tries === restoreTries || !worthAnotherTry.has(error.code)) return error;
    }
  }
}

async function restoreOnce(work: Work, checkpointId: string): Promise<void> {
  const { ports, sandbox } = work;
  const incarnation = nextOf(work);
  const boundTo = sandbox.diskId ?? "";
  const [manifest] = await allEnded([
    readCheckpoint(ports, sandbox, checkpointId, boundTo, sandbox.id),
    cloneAnew(ports, boundTo, incarnation.diskId),
  ]);
  await restore(ports, sandbox, incarnation, "resumed", manifest);
}

async function bootFresh(work: Work): Promise<void> {
  const { ports, sandbox } = work;
  const incarnation = nextOf(work);
  if (incarnation.diskId !== sandbox.diskId) await cloneAnew(ports, sandbox.diskId ?? "", incarnation.diskId);
  await boot(ports, sandbox, incarnation);
}

function nextOf(work: Work): Incarnation {
  return { runtimeId: note(work, "runtimeId"), diskId: note(work, "diskId"), generation: work.sandbox.generation + 1 };
}
