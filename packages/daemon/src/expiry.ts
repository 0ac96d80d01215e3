import type { Lifecycle } from "@torpor/core";
import type { Logger } from "./log.ts";
import { periodically } from "./periodically.ts";

/** One look is one query of an index; nobody counts on a snapshot being gone to the second. */
const everyMs = 10_000;

/** Removes snapshots whose time has come, now and again, until it is ended. */
export function keepExpiring({ snapshots }: Lifecycle, log: Logger, waitMs = everyMs): () => Promise<void> {
  return periodically(
    waitMs,
    async () => {
      const removed = await snapshots.expire();
      if (removed > 0) log.info({ removed }, "removed snapshots that had expired");
    },
    (error) => log.error({ err: error }, "expired snapshots could not be removed"),
  );
}
