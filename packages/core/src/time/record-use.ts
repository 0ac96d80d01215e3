import { describeError } from "../failure.ts";
import type { Ports } from "../ports/ports.ts";
import { type SandboxRecord, StoreConflict } from "../ports/store.ts";

/** Whoever changes the record at the same instant goes on at once: more often than that is a fault. */
const tries = 100;

/** Beside the call that was the use. While an operation has the record it isn't written: a later use does it. */
export async function recordUse(ports: Ports, sandboxId: string, atMs: number): Promise<void> {
  const lastActiveAt = new Date(atMs).toISOString();
  for (let left = tries; left > 0; left--) {
    try {
      const sandbox = await ports.store.findSandbox(sandboxId);
      if (sandbox === undefined || !isOpen(sandbox) || (sandbox.lastActiveAt ?? "") >= lastActiveAt) return;
      return await ports.store.commit({ sandboxes: [{ ...sandbox, lastActiveAt }] });
    } catch (error) {
      if (error instanceof StoreConflict) continue;
      ports.log.error("the last use of a sandbox could not be recorded", { sandbox: sandboxId, cause: describeError(error) });
      return;
    }
  }
}

function isOpen({ damage, operationId, state, idleMs }: SandboxRecord): boolean {
  return damage === undefined && operationId === null && state === "running" && idleMs != null;
}
