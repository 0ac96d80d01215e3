/**
 * Of random walks, by TORPOR_WALK_SEED: without it each run walks the same ways, so that nobody's change fails by another's fault; `random` are
 * other ones each time, as in the soak tests, and a number is that of a walk that is to be repeated.
 */
export function walkSeed(given = "1"): number {
  return given === "random" ? Date.now() | 0 : Number(given);
}

/** By TORPOR_WALKS, which is how many there are of 2000. */
export function walkRuns(usual: number, given: string | undefined): number {
  return given === undefined ? usual : Math.ceil((usual * Number(given)) / 2000);
}
