import { signal } from "@preact/signals";
import type { NodeStats, SandboxStats } from "@torpor/contract";
import { call } from "../api/call.ts";
import { access } from "./access.ts";

/** Looks that are kept for the plots: four minutes of one each 2 s. */
export const keptLooks = 120;

export interface History {
  readonly now: SandboxStats;
  readonly memory: readonly number[];
  readonly cpu: readonly number[];
}

export const histories = signal<ReadonlyMap<string, History>>(new Map());
export const pool = signal<NodeStats["pool"] | undefined>(undefined);

/** What is told of sandboxes that are gone is forgotten. */
export function withLook(before: ReadonlyMap<string, History>, { sandboxes }: NodeStats): ReadonlyMap<string, History> {
  return new Map(
    sandboxes.map((now) => {
      const known = before.get(now.id);
      const memory = [...(known?.memory ?? []), now.memory.usedBytes].slice(-keptLooks);
      const cpu = [...(known?.cpu ?? []), now.cpu.percent].slice(-keptLooks);
      return [now.id, { now, memory, cpu }];
    }),
  );
}

/** As often as there is something new. */
const lookMs = 2000;

/**
 * Figures are for eyes: no hidden tab asks for them. Looked at, and not streamed: a browser has six connections to a host, for all tabs together, and each
 * tab holds one for the events.
 */
export async function followStats(): Promise<void> {
  for (;;) {
    if (document.visibilityState === "visible" && access.value === "in") {
      await call<NodeStats>("GET", "/v1/stats").then(
        (look) => {
          histories.value = withLook(histories.value, look);
          pool.value = look.pool;
        },
        // The page says elsewhere that the daemon does not answer.
        () => {},
      );
    }
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}
