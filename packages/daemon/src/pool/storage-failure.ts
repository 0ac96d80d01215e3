import { TorporError } from "@torpor/contract";

export async function guardStorage<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw storageFailure(what, cause);
  }
}

/** Any failure of the pool as one of the catalogue's errors; one that is that already goes through. */
export function storageFailure(what: string, cause: unknown): TorporError {
  if (cause instanceof TorporError) {
    return cause;
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  if (isNoSpace(cause)) {
    return new TorporError("disk_full", `${what}: the pool is full.`, { hint: roomHint, cause });
  }
  return new TorporError("storage_failed", `${what}: ${message}`, { cause });
}

function isNoSpace(cause: unknown): boolean {
  const code = (cause as NodeJS.ErrnoException | null)?.code;
  return code === "ENOSPC" || code === "EDQUOT" || (cause instanceof Error && cause.message.includes("No space left on device"));
}

export const roomHint = "Remove sandboxes, checkpoints or images (torpor image prune), or give the data directory a larger file system.";
