import { type TimeSettings, TorporError } from "@torpor/contract";
import type { Ports } from "../ports/ports.ts";
import { requireCapability } from "../validation.ts";

/** Those of a request or a record, without what is absent. */
export function settingsOf({ ttlMs, hardTtlMs, idleMs, onTimeout, autoResume }: TimeSettings): TimeSettings {
  const all = { ttlMs, hardTtlMs, idleMs, onTimeout, autoResume };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Refuses what can't be kept, before anything is changed. */
export async function checkSettings(ports: Ports, settings: TimeSettings): Promise<void> {
  const { ttlMs, hardTtlMs, idleMs, onTimeout = "pause", autoResume = false } = settings;
  if (ttlMs != null && hardTtlMs != null && ttlMs > hardTtlMs) {
    throw new TorporError("invalid_request", `ttlMs (${ttlMs}) is over hardTtlMs (${hardTtlMs}): the sandbox would be removed first`, {
      hint: "take a shorter ttl or a longer hard ttl",
      details: { ttlMs, hardTtlMs },
    });
  }
  if (onTimeout === "pause" && (ttlMs != null || idleMs != null)) await requireCapability(ports, "pause");
  if (autoResume) await requireCapability(ports, "resume");
}
