import type { IdPrefix, Ids } from "../ports/ids.ts";

const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

/** Ids of the right shape that count up, so that tests are the same each time. */
export class SequenceIds implements Ids {
  #last = 0;

  next(prefix: IdPrefix): string {
    let rest = ++this.#last;
    let digits = "";
    for (let place = 0; place < 16; place++) {
      digits = `${alphabet[rest % 32]}${digits}`;
      rest = Math.floor(rest / 32);
    }
    return `${prefix}_${digits}`;
  }
}
