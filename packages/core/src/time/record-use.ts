import { describeError } from "../failure.ts";
import type { Ports } from "../ports/ports.ts";
import { type SandboxRecord, StoreConflict } from "../ports/store.ts";

/** Beside the call that was the use. While an operation has the record it isn't written: the next use does it. */
export async function recordUse(ports: Ports, sandboxId: string, atMs: number): Promise<void> {
  try {
    const sandbox = await ports.store.findSandbox(sandboxId);
    const lastActiveAt = new Date(atMs).toISOString();
    if (sandbox !== undefined && isOpen(sandbox) && (sandbox.lastActiveAt ?? "") < lastActiveAt)
      await ports.store.commit({ sandboxes: [{ ...sandbox, lastActiveAt }] });
  } catch (error) {
    if (error instanceof StoreConflict) return;
    ports.log.error("the last use of a sandbox could not be recorded", { sandbox: sandboxId, cause: describeError(error) });
  }
}

function isOpen({ damage, operationId, state, idleMs }: SandboxRecord): boolean {
  return damage === undefined && operationId === null && state === "running" && idleMs != null;
}
