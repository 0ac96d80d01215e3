import { type Resources, TorporError } from "@torpor/contract";

/** Refuses what an engine can't start with. */
export function requireMemory({ memoryBytes }: Resources, minimumBytes: number, engine: string): void {
  if (memoryBytes >= minimumBytes) {
    return;
  }
  throw new TorporError("invalid_request", `${mib(memoryBytes)} of memory is below the minimum of engine ${engine}, ${mib(minimumBytes)}`, {
    hint: `Give at least ${mib(minimumBytes)}.`,
  });
}

function mib(bytes: number): string {
  return `${Math.floor(bytes / 2 ** 20)} MiB`;
}
