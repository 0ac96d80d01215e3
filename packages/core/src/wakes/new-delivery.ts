import type { Ports } from "../ports/ports.ts";
import type { WakeCall, WakeRecord, WakeupRecord } from "../ports/wake-store.ts";

export function newDelivery(ports: Ports, { id, kind, label, sandboxId, nextAt }: WakeRecord, call: WakeCall | null): WakeupRecord {
  const firedAt = ports.clock.now().toISOString();
  return {
    id: ports.ids.next("wd"),
    version: 0,
    sandboxId,
    wake: { id, kind, label },
    dueAt: nextAt ?? firedAt,
    firedAt,
    stage: "stored",
    call,
  };
}

/** A timer may be a little late; more than that is said. */
const toleranceMs = 2000;

export function latenessOf({ dueAt, firedAt }: WakeupRecord): { readonly late: boolean; readonly lateMs: number } {
  const lateMs = Math.max(0, Date.parse(firedAt) - Date.parse(dueAt));
  return { late: lateMs > toleranceMs, lateMs };
}
