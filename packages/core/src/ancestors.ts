import type { AncestorRecord, SandboxRecord } from "./ports/store.ts";

/** What is kept of a removed sandbox that others come from. */
export function ancestorOf({ id, name, parentId, fork, createdAt, updatedAt }: SandboxRecord): AncestorRecord {
  return { id, name, parentId, fork: fork ?? null, createdAt, removedAt: updatedAt };
}
