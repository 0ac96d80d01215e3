import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestDaemon } from "./test-daemon.ts";

/** An image without a single program, `bare`: it boots in no time, and for many tests a sandbox has only to be there. */
export async function importBare(daemon: TestDaemon): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-bare-"));
  try {
    mkdirSync(path.join(directory, "root/etc"), { recursive: true });
    execFileSync("tar", ["-cf", path.join(directory, "bare.tar"), "-C", path.join(directory, "root"), "."]);
    await daemon.client.images.import({ path: path.join(directory, "bare.tar"), reference: "bare" });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
