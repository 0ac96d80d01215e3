import { readFile } from "node:fs/promises";
import { arch } from "node:os";

export interface Cpu {
  readonly architecture: string;
  /** As /proc/cpuinfo has them: `flags` on x86, `Features` on arm. Sorted. */
  readonly features: readonly string[];
}

export async function readCpu(): Promise<Cpu> {
  const text = await readFile("/proc/cpuinfo", "utf8");
  const line = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(text)?.[1] ?? "";
  return {
    architecture: arch(),
    features: line
      .split(/\s+/)
      .filter((name) => name !== "")
      .sort(),
  };
}
