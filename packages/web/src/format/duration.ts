const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** A running clock: 00:12, 1:02:03, 2 d 1:02:03. */
export function formatClock(ms: number): string {
  const total = Math.max(0, Math.floor(ms / second));
  const two = (value: number) => String(value).padStart(2, "0");
  const minutes = Math.floor(total / 60) % 60;
  const hours = Math.floor(total / 3600) % 24;
  const days = Math.floor(total / 86_400);
  const time = total < 3600 ? `${two(minutes)}:${two(total % 60)}` : `${hours}:${two(minutes)}:${two(total % 60)}`;
  return days === 0 ? time : `${days} d ${hours}:${two(minutes)}:${two(total % 60)}`;
}

/** How long something took: 87 ms, 1.24 s, 2 min 5 s. */
export function formatTook(ms: number): string {
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < minute) return `${(ms / second).toFixed(ms < 10 * second ? 2 : 1)} s`;
  return formatSpan(ms);
}

/** Two units at most: 3 d 4 h, 5 min, 12 s. */
export function formatSpan(ms: number): string {
  const parts: [number, string][] = [
    [Math.floor(ms / day), "d"],
    [Math.floor((ms % day) / hour), "h"],
    [Math.floor((ms % hour) / minute), "min"],
    [Math.floor((ms % minute) / second), "s"],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  if (first === -1) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

const factors: Readonly<Record<string, number>> = { ms: 1, s: second, m: minute, min: minute, h: hour, d: day };

/** `90s`, `1h30m`, `2 d`; undefined when it is none. */
export function parseSpan(text: string): number | undefined {
  const compact = text.replaceAll(/\s/g, "").toLowerCase();
  if (!/^(\d+(\.\d+)?(ms|min|[smhd]))+$/.test(compact)) return undefined;
  let sum = 0;
  for (const [, value, unit] of compact.matchAll(/(\d+(?:\.\d+)?)(ms|min|[smhd])/g)) sum += Number(value) * (factors[unit ?? ""] ?? 0);
  return Math.round(sum);
}

/** What a field shows that `parseSpan` reads again. */
export function spanField(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? "" : formatSpan(ms).replaceAll("min", "m").replaceAll(" ", "");
}
