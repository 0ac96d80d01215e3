import type { Lifecycle } from "@torpor/core";
import type { Logger } from "./log.ts";
import { periodically } from "./periodically.ts";

const everyMs = 60_000;

/** Writes down what sandboxes have used, each minute and at the end, and pauses those whose teams can't pay for it. */
export function keepMetering(lifecycle: Lifecycle, log: Logger): () => Promise<void> {
  const failed = (error: unknown) => log.error({ err: error }, "what sandboxes have used could not be written down");
  const end = periodically(
    everyMs,
    async () => {
      await lifecycle.usage.write();
      await lifecycle.pauseForBudgets();
    },
    failed,
  );
  return async () => {
    await end();
    await lifecycle.usage.write().catch(failed);
  };
}
