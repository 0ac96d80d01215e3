import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TorporClient } from "@torpor/sdk";

/** An image without a single program, `bare`: it boots in no time, and for many tests a sandbox has only to be there. */
export async function importBare(client: TorporClient): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-bare-"));
  try {
    await client.images.import({ path: bareTar(directory), reference: "bare" });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Its root file system, made in the directory. */
export function bareTar(directory: string): string {
  const tar = path.join(directory, "bare.tar");
  mkdirSync(path.join(directory, "root/etc"), { recursive: true });
  execFileSync("tar", ["-cf", tar, "-C", path.join(directory, "root"), "."]);
  return tar;
}
