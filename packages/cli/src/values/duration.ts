import { InvalidArgumentError } from "commander";

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as 500ms, 10s, 5m or 1h. */
export function parseDuration(text: string): number {
  const [, digits, unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (digits === undefined || unit === undefined)
    throw new InvalidArgumentError(`${JSON.stringify(text)} is no duration: write it like 500ms, 10s, 5m or 1h.`);
  return Math.round(Number(digits) * (unitsMs[unit] as number));
}

/** The time that is so long from now, as records have it. */
export function expiryIn(text: string): string {
  return new Date(Date.now() + parseDuration(text)).toISOString();
}

/** Milliseconds, or that there is no bound. Not null: commander takes that for an option without a value. */
export type Bound = number | "none";

export function parseBound(text: string): Bound {
  return text === "none" ? text : parseDuration(text);
}

/** A time that has passed, for people: its two largest units at most. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  return first < 0
    ? "0s"
    : parts
        .slice(first, first + 2)
        .map(([count, unit]) => `${count}${unit}`)
        .join("");
}
