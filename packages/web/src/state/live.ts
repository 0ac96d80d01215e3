import { computed, effect } from "@preact/signals";
import type { Event } from "@torpor/contract";
import { access } from "./access.ts";
import { dropSandbox, isSettled, reachable, refresh, refreshAll, sandboxes } from "./sandboxes.ts";

/** What has no event, as the phase of an operation, is looked at so often while one is at work. */
const busyMs = 150;
/** And everything so often, as a safety net: an event names only what has ended. */
const idleMs = 5000;
const awayMs = 1500;

const busy = computed(() => [...(sandboxes.value?.values() ?? [])].filter((sandbox) => !isSettled(sandbox)).map(({ id }) => id));
const isBusy = computed(() => busy.value.length > 0);

/** Keeps the records up to date until the page goes. */
export function followSandboxes(): void {
  // Again whenever somebody signs in.
  effect(() => {
    if (access.value === "in") follow();
  });
  void lookAtAll();
  effect(() => {
    if (isBusy.value) void lookAtBusy();
  });
  addEventListener("online", () => quietly(refreshAll()));
  document.addEventListener("visibilitychange", follow);
}

const listeners = new Set<(sandboxId: string) => void>();

/** Told of each event, by the sandbox that it is about. */
export function onEvent(listener: (sandboxId: string) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function lookAtAll(): Promise<void> {
  for (;;) {
    if (document.visibilityState === "visible" && access.value === "in") await quietly(refreshAll());
    await waited(reachable.value ? idleMs : awayMs);
  }
}

async function lookAtBusy(): Promise<void> {
  while (isBusy.value) {
    await waited(reachable.value ? busyMs : awayMs);
    if (access.value === "in") await Promise.all(busy.value.map((id) => quietly(refresh(id))));
  }
}

let source: EventSource | undefined;

/**
 * An EventSource comes back by itself, from the last number that it has seen, except after a refusal. A hidden tab has none: a browser has six connections to
 * a host, for all tabs together. What happens meanwhile is looked at when it is shown again.
 */
function follow(): void {
  source?.close();
  source = undefined;
  if (document.visibilityState === "hidden" || access.peek() !== "in") return;
  const opened = new EventSource("/v1/events");
  source = opened;
  opened.onopen = () => quietly(refreshAll());
  opened.onmessage = ({ data }) => {
    if (data === "") return;
    const { sandboxId, type } = JSON.parse(data) as Event;
    if (type === "sandbox.removed") dropSandbox(sandboxId);
    else void quietly(refresh(sandboxId));
    for (const listener of listeners) listener(sandboxId);
  };
  opened.onerror = () => {
    if (opened.readyState !== EventSource.CLOSED) return;
    setTimeout(() => source === opened && follow(), awayMs);
  };
}

const waited = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A call that fails is made again soon; that the daemon is away is said by `reachable`. */
const quietly = (call: Promise<void>) => call.catch(() => {});
