import { signal } from "@preact/signals";
import type { NodeStats, SandboxStats } from "@torpor/contract";
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

/** Figures are for eyes: no hidden tab asks for them. */
export function followStats(): void {
  let source: EventSource | undefined;
  const follow = () => {
    if (document.visibilityState === "hidden" || access.value !== "in") {
      source?.close();
      source = undefined;
      return;
    }
    if (source !== undefined && source.readyState !== EventSource.CLOSED) return;
    source = new EventSource("/v1/stats");
    source.onmessage = ({ data }) => {
      if (data === "") return;
      const look = JSON.parse(data) as NodeStats;
      histories.value = withLook(histories.value, look);
      pool.value = look.pool;
    };
  };
  follow();
  document.addEventListener("visibilitychange", follow);
  // An EventSource gives up for good when the daemon answers with an error, as while it starts.
  setInterval(follow, 10_000);
}
