/** What an id stands for; ids look like `sb_` and 16 characters of a-z2-7. */
export type IdPrefix = "sb" | "rt" | "op" | "ck" | "dk" | "se" | "sn" | "wh" | "wk" | "wd" | "tk" | "lg" | "lc";

export interface Ids {
  /** A new id that was never given before; not guessable. */
  next(prefix: IdPrefix): string;
}
