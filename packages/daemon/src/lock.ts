import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { TorporError } from "@torpor/contract";

export interface Lock {
  release(): Promise<void>;
}

const held = 9;

/**
 * One daemon a data directory. The kernel's lock (flock) ends with its holder, so a killed daemon leaves none. Node has no call for it:
 * flock(1) of util-linux locks the open file that it inherits, which stays locked for as long as we have it open. The file has the daemon's
 * pid, for `torpor daemon stop` and for the refusal.
 */
export async function lockDataDirectory(path: string): Promise<Lock> {
  const file = await open(path, "a+", 0o600);
  const child = spawn("flock", ["--exclusive", "--nonblock", "--conflict-exit-code", String(held), "3"], {
    stdio: ["ignore", "ignore", "ignore", file.fd],
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) {
    const pid = (await file.readFile("utf8")).trim();
    await file.close();
    if (code === held) {
      throw new TorporError("invalid_request", `Another torpord (pid ${pid}) works on this data directory`, {
        hint: "Stop it with torpor daemon stop, or name another directory with --data.",
      });
    }
    throw new TorporError("storage_failed", `${path} could not be locked: flock ended with ${code}`);
  }
  await file.truncate(0);
  await file.write(`${process.pid}\n`);
  return { release: () => file.close() };
}
