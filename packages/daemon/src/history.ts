import { setTimeout as sleep } from "node:timers/promises";
import type { Lifecycle, Retention } from "@torpor/core";
import type { Logger } from "./log.ts";

const everyMs = 60 * 60 * 1000;

/** Forgets old history now and each hour, until it is ended. A store that is away for the moment is asked again an hour later. */
export function keepForgetting(lifecycle: Lifecycle, retention: Retention, log: Logger): () => Promise<void> {
  const ending = new AbortController();
  const loop = (async () => {
    while (!ending.signal.aborted) {
      try {
        const deleted = await lifecycle.forget(retention);
        if (deleted > 0) log.info({ deleted }, "forgot old operations, events and keys");
      } catch (error) {
        log.error({ err: error }, "old history could not be deleted");
      }
      await sleep(everyMs, undefined, { signal: ending.signal, ref: false }).catch(() => {});
    }
  })();
  return async () => {
    ending.abort();
    await loop;
  };
}
