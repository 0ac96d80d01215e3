import { type TorporClient, TorporError } from "@torpor/sdk";

/** Sandboxes and snapshots, so that a test starts with none, also after one that failed. */
export async function removeAll(client: TorporClient): Promise<void> {
  for (const { id } of await client.list()) await removeSandbox(client, id);
  for (const { id } of await client.snapshots.list()) {
    await client.snapshots.update(id, { pinned: false });
    await client.snapshots.remove(id);
  }
}

/** Also when it has gone by itself since it was listed: what is wanted is that it is no more. */
export async function removeSandbox(client: TorporClient, id: string): Promise<void> {
  await client.remove(id, { force: true }).catch((error: unknown) => {
    if (!(error instanceof TorporError && error.code === "sandbox_not_found")) throw error;
  });
}
