import { TorporError } from "@torpor/contract";
import type { Pool } from "./pool.ts";
import { roomHint } from "./storage-failure.ts";

/** Refused beforehand: a pool that runs full breaks what is in it already. */
export async function requireRoom(pool: Pool, what: string, neededBytes: number): Promise<void> {
  const freeBytes = await pool.freeBytes();
  if (freeBytes < neededBytes) {
    throw new TorporError("disk_full", `${what} needs ${neededBytes} bytes of the pool, and ${freeBytes} are free.`, {
      hint: roomHint,
      details: { freeBytes, neededBytes },
    });
  }
}
