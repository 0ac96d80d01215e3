import type { Ports } from "./ports/ports.ts";

export interface Retention {
  /** Finished operations and events are kept so long. */
  readonly maxAgeMs: number;
  /** And no more of each than so many for one sandbox. */
  readonly perSandbox: number;
}

export const defaultRetention: Retention = { maxAgeMs: 7 * 24 * 60 * 60 * 1000, perSandbox: 1000 };

/** What could not be delivered so long, as to a webhook that stays paused, is given up. Deliveries that are tried end after a day. */
const undeliveredMs = 7 * 24 * 60 * 60 * 1000;

/** Rows a transaction: 500 deletes take some ms, which nobody notices who commits meanwhile. */
const batch = 500;

/** Deletes history that is kept no longer; the number of deleted operations, events and keys. Running operations stay, and those that a key answers with. */
export async function forget({ store, clock }: Ports, { maxAgeMs, perSandbox }: Retention): Promise<number> {
  const now = clock.now();
  const before = new Date(now.getTime() - maxAgeMs).toISOString();
  const undeliveredBefore = new Date(now.getTime() - undeliveredMs).toISOString();
  let all = 0;
  for (;;) {
    const deleted = await store.prune({ now: now.toISOString(), before, undeliveredBefore, perSandbox, batch });
    all += deleted;
    if (deleted === 0) return all;
  }
}
