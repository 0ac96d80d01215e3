import { rename, rm } from "node:fs/promises";

/** Renames it away first, so that nothing half-removed is ever seen, then frees it. */
export async function removeTree(target: string, temporary: string): Promise<void> {
  try {
    await rename(target, temporary);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") {
      return;
    }
    throw cause;
  }
  await rm(temporary, { recursive: true, force: true });
}
