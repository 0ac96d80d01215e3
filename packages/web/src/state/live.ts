import type { Event } from "@torpor/contract";
import { isSettled, reachable, refresh, refreshAll, sandboxes } from "./sandboxes.ts";

/** What has no event, as the phase of an operation, is looked at so often while one is at work. */
const busyMs = 250;
/** And everything so often, as a safety net: an event names only what has ended. */
const idleMs = 5000;
const awayMs = 1500;

/** Keeps the records up to date until the page goes. */
export function followSandboxes(): void {
  follow();
  const look = async () => {
    const busy = [...(sandboxes.value?.values() ?? [])].filter((sandbox) => !isSettled(sandbox));
    if (document.visibilityState === "visible") {
      if (!reachable.value || busy.length === 0) await refreshAll().catch(() => {});
      else await Promise.all(busy.map(({ id }) => refresh(id).catch(() => {})));
    }
    setTimeout(look, waitMs());
  };
  void look();
  addEventListener("online", () => refreshAll().catch(() => {}));
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && refreshAll().catch(() => {}));
}

function waitMs(): number {
  if (!reachable.value) return awayMs;
  return [...(sandboxes.value?.values() ?? [])].every(isSettled) ? idleMs : busyMs;
}

/** An EventSource comes back by itself, from the last number that it has seen, except after a refusal. */
function follow(): void {
  const source = new EventSource("/v1/events");
  source.onopen = () => refreshAll().catch(() => {});
  source.onmessage = ({ data }) => {
    if (data === "") return;
    const { sandboxId } = JSON.parse(data) as Event;
    refresh(sandboxId).catch(() => {});
    for (const listener of listeners) listener(sandboxId);
  };
  source.onerror = () => {
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(follow, awayMs);
  };
}

const listeners = new Set<(sandboxId: string) => void>();

/** Told of each event, by the sandbox that it is about. */
export function onEvent(listener: (sandboxId: string) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
