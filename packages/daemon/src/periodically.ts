import { setTimeout as sleep } from "node:timers/promises";

/** Does it now and again, each time so long after its end, until it is ended. A failure is no end. */
export function periodically(everyMs: number, work: () => Promise<void>, failed: (error: unknown) => void): () => Promise<void> {
  const ending = new AbortController();
  const loop = (async () => {
    while (!ending.signal.aborted) {
      await work().catch(failed);
      await sleep(everyMs, undefined, { signal: ending.signal, ref: false }).catch(() => {});
    }
  })();
  return async () => {
    ending.abort();
    await loop;
  };
}
