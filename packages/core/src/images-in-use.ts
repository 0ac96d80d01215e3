import type { Ports } from "./ports/ports.ts";

/** Digests of the images that sandboxes and snapshots have, and that a rebase at work is about to put below a disk. */
export async function imagesInUse({ store }: Ports): Promise<ReadonlySet<string>> {
  const [sandboxes, snapshots, pending] = await Promise.all([store.listSandboxes(), store.listSnapshots(), store.runningOperations()]);
  return new Set([
    ...[...sandboxes, ...snapshots].flatMap(({ image, damage }) => [image.digest, ...(damage?.mentions ?? [])]),
    ...pending.flatMap(({ notes, damage }) => [String(notes.imageDigest ?? ""), ...(damage?.mentions ?? [])]),
  ]);
}
