import { type Difference, TorporError } from "@torpor/contract";
import { lookUp } from "./commands.ts";
import type { Desk } from "./desk.ts";
import { endingOf } from "./ending-of.ts";
import { busy, unreadable } from "./lifecycle/refusals.ts";
import { Patience } from "./patience.ts";
import type { FileTree } from "./ports/comparison.ts";
import type { SandboxRecord } from "./ports/store.ts";

/** So long a comparison waits for the operation at work on a sandbox. */
const defaultWaitMs = 30_000;
/** A resume moves a sandbox to another disk: its old one may be gone before it is read. */
const diskTries = 5;

export interface DiffOptions {
  /** Another sandbox. Default: from its image to the sandbox itself. */
  readonly with?: string;
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/** How the files of a sandbox differ from its image's, or another's from its own. No state changes, none is woken; a running one is synced and goes on. */
export async function* compareFiles(desk: Desk, idOrName: string, options: DiffOptions): AsyncIterable<Difference> {
  const { comparison } = desk.ports;
  const patience = new Patience(desk.ports.clock, options.waitMs ?? defaultWaitMs);
  for (let tries = 1; ; tries++) {
    const [before, after] = await treesOf(desk, idOrName, options.with, patience);
    const found = comparison.compare(before, after, options.signal)[Symbol.asyncIterator]();
    const first = await found.next().catch((error: unknown) => {
      if (tries < diskTries && isMissingDisk(error)) return undefined;
      throw error;
    });
    if (first === undefined) continue;
    try {
      for (let next = first; !next.done; next = await found.next()) yield next.value;
    } finally {
      await found.return?.();
    }
    return;
  }
}

async function treesOf(desk: Desk, idOrName: string, other: string | undefined, patience: Patience): Promise<[FileTree, FileTree]> {
  const own = await settled(desk, idOrName, patience);
  if (other === undefined) {
    const tree = await treeOf(desk, own);
    return [{ disk: null, image: tree.image }, tree];
  }
  const another = await settled(desk, other, patience);
  return Promise.all([treeOf(desk, own), treeOf(desk, another)]);
}

/** Once nothing but a fork is at work on it: in between, its files may be half of what they will be. */
async function settled(desk: Desk, idOrName: string, patience: Patience): Promise<SandboxRecord> {
  for (;;) {
    const sandbox = await lookUp(desk.ports, idOrName);
    if (sandbox.damage !== undefined) throw unreadable(sandbox, sandbox.damage.field);
    const active = sandbox.operationId === null ? undefined : await desk.ports.store.findOperation(sandbox.operationId);
    if (active === undefined || active.kind === "fork") return sandbox;
    if (active.status === "running" && !(await patience.outlasts(endingOf(desk, active)))) throw busy(sandbox, active);
  }
}

async function treeOf({ ports }: Desk, { name, image, diskId, state, runtimeId }: SandboxRecord): Promise<FileTree> {
  if (diskId === null) throw new TorporError("storage_failed", `sandbox ${name} has no disk`);
  if (state === "running" && runtimeId !== null) await ports.engine.sync(runtimeId);
  return { disk: ports.disks.locate(diskId), image: ports.images.locate(image.digest) };
}

function isMissingDisk(error: unknown): boolean {
  return error instanceof TorporError && error.details.missing === "disk";
}
