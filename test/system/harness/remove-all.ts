import type { TorporClient } from "@torpor/sdk";

/** So that a test starts with none, also after one that failed. */
export async function removeAll(client: TorporClient): Promise<void> {
  for (const { id } of await client.list()) await client.remove(id, { force: true });
}
