import { setTimeout as sleep } from "node:timers/promises";
import { isConnectionFailure, isRepeatable } from "./connection-failure.ts";

const firstPauseMs = 50;
const longestPauseMs = 1000;

/** Repeats the work while the server is away, at growing distances, for at most `limitMs`; anything else that fails is thrown at once. */
export async function endure<T>(limitMs: number, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + limitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      const again = isRepeatable(error) || (isConnectionFailure(error) && performance.now() < until);
      if (!again) throw error;
      await sleep(pauseMs);
    }
  }
}
