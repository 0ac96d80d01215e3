import { type Difference, TorporError } from "@torpor/contract";
import { lookUp } from "./commands.ts";
import type { Desk } from "./desk.ts";
import { endingOf } from "./ending-of.ts";
import { busy, unreadable, unreadableSnapshot } from "./lifecycle/refusals.ts";
import { Patience } from "./patience.ts";
import type { FileTree } from "./ports/comparison.ts";
import type { SandboxRecord } from "./ports/store.ts";

/** So long a comparison waits for the operation at work on a sandbox. */
const defaultWaitMs = 30_000;
/** A resume moves a sandbox to another disk: its old one may be gone before it is read. */
const diskTries = 5;

export interface DiffOptions {
  /** Another sandbox or snapshot. Default: from its image to the sandbox itself. */
  readonly with?: string;
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/** How the files of a sandbox or snapshot differ from its image's, or another's from its own. No state changes, none is woken; a running one is synced and goes on. */
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
  const own = await treeOf(desk, idOrName, patience);
  if (other === undefined) {
    const tree = await own.read();
    return [{ disk: null, image: tree.image }, tree];
  }
  // Both are found before one of them is synced.
  const another = await treeOf(desk, other, patience);
  return Promise.all([own.read(), another.read()]);
}

/** Of a sandbox, or else of a snapshot with that id or name. */
async function treeOf(desk: Desk, idOrName: string, patience: Patience): Promise<{ read(): Promise<FileTree> }> {
  const { ports } = desk;
  const snapshot = (await ports.store.findSandbox(idOrName)) === undefined ? await ports.store.findSnapshot(idOrName) : undefined;
  if (snapshot !== undefined) {
    if (snapshot.damage !== undefined) throw unreadableSnapshot(snapshot);
    const tree = { disk: ports.disks.locate(snapshot.diskId), image: ports.images.locate(snapshot.image.digest) };
    return { read: async () => tree };
  }
  const { name, image, diskId, state, runtimeId } = await settled(desk, idOrName, patience);
  if (diskId === null) throw new TorporError("storage_failed", `sandbox ${name} has no disk`);
  return {
    async read() {
      if (state === "running" && runtimeId !== null) await ports.engine.sync(runtimeId);
      return { disk: ports.disks.locate(diskId), image: ports.images.locate(image.digest) };
    },
  };
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

function isMissingDisk(error: unknown): boolean {
  return error instanceof TorporError && error.details.missing === "disk";
}
