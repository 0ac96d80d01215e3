import { type CreateWakeRequest, TorporError } from "@torpor/contract";
import type { Ports } from "../ports/ports.ts";
import type { WakeRecord } from "../ports/wake-store.ts";

export interface NewWake {
  readonly record: WakeRecord;
  readonly token: string | null;
}

/** The record of a wake, not yet committed. Refuses what would never come. */
export function newWake(ports: Ports, sandboxId: string, request: CreateWakeRequest): NewWake {
  const now = ports.clock.now();
  const { cron, url, signed = false, label = null } = request;
  const timezone = cron === undefined ? null : (request.timezone ?? "UTC");
  const token = url === undefined ? null : ports.tokens.next();
  const record: WakeRecord = {
    id: ports.ids.next("wk"),
    version: 0,
    sandboxId,
    kind: cron !== undefined ? "cron" : url !== undefined ? "url" : "at",
    label,
    cron: cron ?? null,
    timezone,
    nextAt: url === undefined ? firstInstant(ports, request, now).toISOString() : null,
    signed,
    createdAt: now.toISOString(),
    lastAt: null,
    tokenHash: token === null ? null : ports.tokens.hash(token),
    secret: signed ? ports.tokens.next() : null,
  };
  return { record, token };
}

function firstInstant(ports: Ports, { at, afterMs, cron, timezone = "UTC" }: CreateWakeRequest, now: Date): Date {
  if (cron !== undefined) {
    const next = ports.schedules.next(cron, timezone, now);
    if (next !== undefined) return next;
    throw new TorporError("invalid_request", `the schedule ${JSON.stringify(cron)} never comes in ${timezone}`, {
      hint: "minute, hour, day of month, month, day of week: 0 9 * * 1-5 is nine o'clock on working days",
    });
  }
  const instant = at === undefined ? new Date(now.getTime() + (afterMs ?? 0)) : new Date(at);
  if (instant > now) return instant;
  throw new TorporError("invalid_request", `${instant.toISOString()} is in the past: it is ${now.toISOString()}`, {
    details: { at: instant.toISOString(), now: now.toISOString() },
  });
}
