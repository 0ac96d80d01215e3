const firstMs = 150;
const longestMs = 10_000;

/** Time before the next attempt to connect, after so many failures in a row. Spread, so that many tabs do not come back at once. */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  return Math.min(longestMs, firstMs * 2 ** failures) * (0.75 + random() / 2);
}
