import { spawn } from "node:child_process";
import { openSync, closeSync } from "node:fs";
import type { Readable } from "node:stream";
import { TorporError } from "@torpor/contract";
import type { RuntimeDirectory } from "./runtime-directory.ts";

/** Starts a shim in a session of its own, so that the daemon's end is not its end; resolves when its socket listens. */
export function launchShim(binary: string, directory: RuntimeDirectory): Promise<void> {
  // Files, not pipes: a shim that outlives the daemon must be able to write its log.
  const log = openSync(directory.shimLog, "a", 0o600);
  const child = spawn(binary, ["serve", directory.path], { detached: true, stdio: ["ignore", log, log, "pipe"], env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" }, cwd: "/" });
  closeSync(log);
  child.unref();
  const ready = child.stdio[3] as Readable;
  return new Promise((resolve, reject) => {
    ready.once("data", () => {
      ready.destroy();
      resolve();
    });
    child.once("error", (cause) => reject(new TorporError("engine_failed", `The shim ${binary} could not be started: ${cause.message}`, { cause })));
    child.once("exit", (code) => reject(new TorporError("engine_failed", `The shim ended with code ${code} before it was ready; see ${directory.shimLog}`)));
  });
}
