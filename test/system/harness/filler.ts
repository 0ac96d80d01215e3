import { execFileSync } from "node:child_process";
import { rmSync, statfsSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";

/** Fills a file system but for so much; gives what frees it. */
export function fill(place: string, leftBytes: number): () => void {
  const file = path.join(place, "filler");
  const { bavail, bsize } = statfsSync(place);
  execFileSync("fallocate", ["--length", String(bavail * bsize - leftBytes), file]);
  const free = () => rmSync(file, { force: true });
  onTestFinished(free);
  return free;
}
