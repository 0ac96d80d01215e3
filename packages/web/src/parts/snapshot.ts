import type { Snapshot } from "@torpor/contract";
import { formatBytes } from "../format/bytes.ts";

/** What it holds, and since when. */
export function describeSnapshot({ checkpoint, diskBytes, createdAt, pinned }: Snapshot): string {
  return [
    checkpoint === null ? "files only" : `with memory, ${formatBytes(checkpoint.storedBytes)}`,
    `disk ${formatBytes(diskBytes)}`,
    new Date(createdAt).toLocaleString(),
    ...(pinned ? ["pinned"] : []),
  ].join(" · ");
}
