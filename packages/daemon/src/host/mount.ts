import { readFile } from "node:fs/promises";

export interface Mount {
  readonly mountPoint: string;
  readonly fileSystem: string;
  readonly source: string;
}

/** What is mounted at exactly this (real) path; the topmost if there are several. */
export async function findMount(mountPoint: string): Promise<Mount | undefined> {
  return parseMountInfo(await readFile("/proc/self/mountinfo", "utf8")).findLast((mount) => mount.mountPoint === mountPoint);
}

/** Fields as in proc(5): 36 35 98:0 /root /mount/point options optional… - type source superOptions */
export function parseMountInfo(text: string): Mount[] {
  return text.split("\n").flatMap((line) => {
    const [left, right] = line.split(" - ");
    const mountPoint = left?.split(" ")[4];
    const [fileSystem, source] = right?.split(" ") ?? [];
    if (mountPoint === undefined || fileSystem === undefined || source === undefined) {
      return [];
    }
    return [{ mountPoint: unescapeOctal(mountPoint), fileSystem, source: unescapeOctal(source) }];
  });
}

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
