const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Three digits at most, with the unit that fits: 21.8 MiB. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // 1000 and not 1024: "1010 MiB" has a digit too many.
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

const factors: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** `512MiB`, `1.5 GB`, `2g`; undefined when it is none. All units are binary, as in the command line. */
export function parseBytes(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*$/i.exec(text);
  if (match === null) return undefined;
  return Math.round(Number(match[1]) * (factors[(match[2] ?? "").toLowerCase()] ?? 1));
}
