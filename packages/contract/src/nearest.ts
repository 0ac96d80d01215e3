/** Of what there is, what was probably meant; undefined: nothing is alike. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let [best, least]: [string | undefined, number] = [undefined, limit + 1];
  let longer: string | undefined;
  for (const candidate of known) {
    const away = distance(word.toLowerCase(), candidate.toLowerCase());
    if (away < least) [best, least] = [candidate, away];
    // Its unit is left out: `ttl` for `ttlMs`.
    if (word.length > 1 && candidate.toLowerCase().startsWith(word.toLowerCase())) longer ??= candidate;
  }
  return best ?? longer;
}

/** Letters to insert, to leave out, to replace, or to swap with the next one. */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at++) {
    const row = [at];
    for (let to = 1; to <= other.length; to++) {
      const same = one[at - 1] === other[to - 1] ? 0 : 1;
      let least = Math.min((last[to] as number) + 1, (row[to - 1] as number) + 1, (last[to - 1] as number) + same);
      if (one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1]) least = Math.min(least, (before[to - 2] ?? 0) + 1);
      row.push(least);
    }
    [before, last] = [last, row];
  }
  return last[other.length] as number;
}
