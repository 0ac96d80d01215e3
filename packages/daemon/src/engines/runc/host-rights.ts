import { readFile } from "node:fs/promises";
import { linuxCapabilities } from "../oci/capabilities.ts";

/** What a process may give to one that it starts: root in a container that runs containers lacks some of both. */
export interface HostRights {
  readonly openFiles: number;
  /** Names as in capabilities(7), with CAP_. */
  readonly capabilities: ReadonlySet<string>;
}

export async function readHostRights(): Promise<HostRights> {
  const [limits, status] = await Promise.all([readFile("/proc/self/limits", "utf8"), readFile("/proc/self/status", "utf8")]);
  return { openFiles: openFilesIn(limits), capabilities: capabilitiesIn(status) };
}

/** Without CAP_SYS_RESOURCE nobody gives more than he has himself. */
export function openFilesIn(limits: string): number {
  const hard = Number(/^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1] ?? Number.NaN);
  return Number.isInteger(hard) ? Math.min(hard, wantedOpenFiles) : wantedOpenFiles;
}

export function capabilitiesIn(status: string): ReadonlySet<string> {
  const held = BigInt(`0x${/^CapPrm:\s+([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`);
  return new Set(linuxCapabilities.filter((_, number) => (held >> BigInt(number)) & 1n));
}

const wantedOpenFiles = 1_048_576;
