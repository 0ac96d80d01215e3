import { chmod, copyFile, mkdir, readdir, rename } from "node:fs/promises";
import path from "node:path";
import { TorporError } from "@torpor/contract";
import { digest } from "../../host/digest.ts";

export interface GuestBinary {
  /** Holds the binary alone; mounted into sandboxes. */
  readonly directory: string;
  readonly sha256: string;
}

/**
 * Keeps the guest binary under its digest: running sandboxes and checkpoints have it mapped, and read clean pages of it again from
 * this file at a restore, so an upgrade must never overwrite it.
 */
export async function keepGuest(dataDirectory: string, binary: string): Promise<GuestBinary> {
  const sha256 = await digest(binary).catch((cause: unknown) => {
    throw new TorporError("engine_unavailable", `The guest binary ${binary} is not there`, {
      hint: "Run scripts/bootstrap, which builds it.",
      cause,
    });
  });
  const directory = guestDirectory(dataDirectory, sha256);
  const target = path.join(directory, "torpor-guest");
  if (!(await readdir(directory).catch(() => [] as string[])).includes("torpor-guest")) {
    await mkdir(directory, { recursive: true, mode: 0o755 });
    const fresh = path.join(dataDirectory, "guest", `.new-${sha256}`);
    await copyFile(binary, fresh);
    await chmod(fresh, 0o555);
    await rename(fresh, target);
  }
  return { directory, sha256 };
}

export async function hasGuest(dataDirectory: string, sha256: string): Promise<boolean> {
  return (await readdir(guestDirectory(dataDirectory, sha256)).catch(() => [] as string[])).includes("torpor-guest");
}

export function guestDirectory(dataDirectory: string, sha256: string): string {
  return path.join(dataDirectory, "guest", sha256);
}
