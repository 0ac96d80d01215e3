import { TorporError } from "@torpor/contract/error";
import { sleep } from "./sleep.ts";

/** A sandbox that a call wakes may take longer than the call waits: it is asked again so long, in ms. */
const patienceMs = 120_000;
const retryMs = 1000;

/** Makes a call that nothing came of while the sandbox was still waking up, again. */
export async function waking<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (const end = performance.now() + patienceMs; ; ) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof TorporError) || error.code !== "sandbox_waking" || performance.now() > end) throw error;
      const { retryAfterMs } = error.details;
      await sleep(typeof retryAfterMs === "number" ? Math.min(retryAfterMs, 5000) : retryMs, signal);
    }
  }
}
