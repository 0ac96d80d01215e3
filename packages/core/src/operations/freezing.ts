import type { CheckpointManifest, CheckpointPart } from "../ports/checkpoints.ts";
import type { Capture, CaptureOptions } from "../ports/engine.ts";
import type { SandboxRecord } from "../ports/store.ts";
import { quietly } from "./aftermath.ts";
import { note, optionalNote, type Phase, type Work } from "./procedure.ts";
import { allEnded, greetRunning } from "./runtime.ts";

/** Beside the runtime's memory a checkpoint holds the engine's own state: 0.2 MB measured, and room for its growth. */
const stateMarginBytes = 64 * 1024 * 1024;

/**
 * Before the freeze, side by side: the checkpoint's place, made anew if an earlier attempt left one, which costs no frozen time so (and too little
 * room no freeze); and the guest, which lets nothing new begin and writes dirty files to the disk.
 */
export const quiesce: Phase = {
  name: "quiesce",
  // A crash between this and the capture repeats them, and each looks first whether the runtime is frozen already.
  joined: true,
  async run(work) {
    // The guest goes on meanwhile.
    await work.ports.drain?.(work.sandbox.id);
    const [notes] = await allEnded([reserve(work), prepareGuest(work)]);
    return { notes };
  },
};

async function reserve(work: Work): Promise<Record<string, unknown>> {
  const { ports, sandbox } = work;
  const checkpointId = optionalNote(work, "checkpointId");
  if (checkpointId === null) return {};
  if (work.repeated) await ports.checkpoints.remove(checkpointId);
  const heldBytes = await ports.engine.memoryBytes(runtimeOf(sandbox));
  const location = await ports.checkpoints.begin(checkpointId, heldBytes + stateMarginBytes);
  return { heldBytes, location };
}

async function prepareGuest(work: Work): Promise<void> {
  const runtimeId = runtimeOf(work.sandbox);
  if (await isFrozen(work)) return;
  // The line of a daemon that was killed is gone; a new one opens with a hello.
  if (work.repeated) await greetRunning(work.ports, work.sandbox, runtimeId);
  const guest = await work.ports.engine.guest(runtimeId);
  await guest.prepare();
}

export const freeze: Phase = {
  name: "freeze",
  beside: true,
  redoFrom: "quiesce",
  async run({ ports, sandbox }) {
    const frozenAt = ports.clock.monotonicMs();
    await ports.engine.freeze(runtimeOf(sandbox));
    return { notes: { frozenAt } };
  },
};

/** Memory into the reserved place. */
export function capture(work: Work, options: CaptureOptions = {}): Promise<Capture> {
  return work.ports.engine.capture(runtimeOf(work.sandbox), note(work, "location"), options);
}

/**
 * Hashes, unless the engine did, and flushes what was captured, side by side, and seals it: one reads the pages that the other writes. One that is
 * used up at once need not outlive a power cut, which ends those who use it as well.
 */
export async function sealCapture(
  work: Work,
  id: string,
  diskId: string,
  captured: Capture,
  { durable = true }: { readonly durable?: boolean } = {},
): Promise<CheckpointManifest> {
  const { ports } = work;
  // A crash after the seal and before its journal entry: the place is gone, the checkpoint is there.
  const sealed = work.repeated ? await ports.checkpoints.read(id) : undefined;
  if (sealed !== undefined) return sealed;
  // A small one is flushed by the seal in one go with its manifest: twice would cost the pool's log a second wait.
  const flushed = durable && storedBytes(captured.parts) > flushAheadBytes ? ports.checkpoints.flush(id) : Promise.resolve();
  const [parts] = await allEnded([hashesOf(work, captured), flushed]);
  const manifest = manifestOf(work, id, diskId, { ...captured, parts });
  await ports.checkpoints.seal(manifest, { durable });
  return manifest;
}

async function hashesOf(work: Work, { parts }: Capture): Promise<readonly CheckpointPart[]> {
  if (parts.every((part): part is CheckpointPart => part.hash !== undefined)) return parts;
  return await work.ports.engine.digest(runtimeOf(work.sandbox), note(work, "location"), parts);
}

function manifestOf(work: Work, id: string, diskId: string, captured: Capture & Pick<CheckpointManifest, "parts">): CheckpointManifest {
  const { sandbox, ports } = work;
  const { parts, engine, guest, cpu, restore } = captured;
  return {
    version: 1,
    id,
    sandboxId: sandbox.id,
    diskId,
    generation: sandbox.generation,
    createdAt: ports.clock.now().toISOString(),
    engine,
    guest,
    image: { digest: sandbox.image.digest },
    cpu,
    restore,
    parts,
  };
}

const flushAheadBytes = 32 * 1024 * 1024;

/** What a sandbox's or snapshot's record says of its checkpoint. */
export function checkpointOf({ id, parts, createdAt }: CheckpointManifest): NonNullable<SandboxRecord["checkpoint"]> {
  return { id, storedBytes: storedBytes(parts), createdAt };
}

function storedBytes(parts: Capture["parts"]): number {
  return parts.reduce((sum, part) => sum + part.sizeBytes, 0);
}

/** A thaw that fails is tried again before anything is given up: all memory hangs on it. */
const thawTries = 4;
const thawPauseMs = 100;

/** The sandbox goes on, frozen or only quiesced. Gives the instant of the thaw. */
export async function goOn(work: Work): Promise<number> {
  const { ports, sandbox, repeated } = work;
  const runtimeId = runtimeOf(sandbox);
  for (let tries = 1; ; tries++) {
    try {
      await ports.engine.thaw(runtimeId);
      break;
    } catch (error) {
      const over = (await ports.engine.inspect(runtimeId)).state === "ended";
      if (over || tries === thawTries) throw error;
      await ports.clock.sleep(thawPauseMs * 2 ** tries);
    }
  }
  const thawedAt = ports.clock.monotonicMs();
  // A killed daemon's line is gone: a new one opens with a hello, which lets calls in again too.
  if (repeated) await greetRunning(ports, sandbox, runtimeId);
  else await (await ports.engine.guest(runtimeId)).release();
  return thawedAt;
}

/** Whatever fails of it: what becomes of the sandbox is then read from its runtime. */
export async function undoFreeze(work: Work): Promise<void> {
  await quietly(work.ports, "letting the sandbox go on", [async () => void (await goOn(work))]);
}

export function runtimeOf(sandbox: SandboxRecord): string {
  if (sandbox.runtimeId === null) throw new Error(`sandbox ${sandbox.id} is ${sandbox.state} and has no runtime`);
  return sandbox.runtimeId;
}

async function isFrozen({ ports, sandbox }: Work): Promise<boolean> {
  return (await ports.engine.inspect(runtimeOf(sandbox))).state === "frozen";
}
