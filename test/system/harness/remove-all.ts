import type { TorporClient } from "@torpor/sdk";

/** Sandboxes and snapshots, so that a test starts with none, also after one that failed. */
export async function removeAll(client: TorporClient): Promise<void> {
  for (const { id } of await client.list()) await client.remove(id, { force: true });
  for (const { id } of await client.snapshots.list()) {
    await client.snapshots.update(id, { pinned: false });
    await client.snapshots.remove(id);
  }
}
