import { createHash } from "node:crypto";
import { access, chmod, copyFile, mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { TorporError } from "@torpor/contract";
import { digest } from "../../host/digest.ts";

export interface GuestBinary {
  /** Holds the guest's programs alone; mounted into sandboxes. */
  readonly directory: string;
  /** Of all of them together. */
  readonly sha256: string;
}

/**
 * Keeps the guest's programs under their digest: running sandboxes and checkpoints have them mapped, and read clean pages of them again from
 * these files at a restore, so an upgrade must never overwrite them.
 */
export async function keepGuest(dataDirectory: string, programs: readonly string[]): Promise<GuestBinary> {
  const digests = await Promise.all(programs.map(digestOf));
  const sha256 = createHash("sha256").update(digests.join("\n")).digest("hex");
  const directory = guestDirectory(dataDirectory, sha256);
  if (!(await hasGuest(dataDirectory, sha256))) {
    const fresh = path.join(dataDirectory, "guest", `.new-${sha256}`);
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true, mode: 0o755 });
    for (const program of programs) {
      const target = path.join(fresh, path.basename(program));
      await copyFile(program, target);
      await chmod(target, 0o555);
    }
    await rename(fresh, directory);
  }
  return { directory, sha256 };
}

export async function hasGuest(dataDirectory: string, sha256: string): Promise<boolean> {
  return access(guestDirectory(dataDirectory, sha256)).then(
    () => true,
    () => false,
  );
}

function digestOf(program: string): Promise<string> {
  return digest(program).catch((cause: unknown) => {
    throw new TorporError("engine_unavailable", `The guest's program ${program} is not there`, {
      hint: "Run scripts/bootstrap, which builds it.",
      cause,
    });
  });
}

export function guestDirectory(dataDirectory: string, sha256: string): string {
  return path.join(dataDirectory, "guest", sha256);
}
