import type { Lifecycle, Retention } from "@torpor/core";
import type { Logger } from "./log.ts";
import { periodically } from "./periodically.ts";

const everyMs = 60 * 60 * 1000;

/** Forgets old history now and each hour, until it is ended. A store that is away for the moment is asked again an hour later. */
export function keepForgetting(lifecycle: Lifecycle, retention: Retention, log: Logger): () => Promise<void> {
  return periodically(
    everyMs,
    async () => {
      const deleted = await lifecycle.forget(retention);
      if (deleted > 0) log.info({ deleted }, "forgot old operations, events and keys");
    },
    (error) => log.error({ err: error }, "old history could not be deleted"),
  );
}
