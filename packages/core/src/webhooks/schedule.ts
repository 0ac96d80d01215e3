import type { DeliveryRecord, WebhookRecord } from "../ports/outbox.ts";
import type { PostOutcome } from "../ports/receivers.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** So long a delivery is tried, from its event on. */
export const giveUpMs = 24 * hourMs;

/** Pauses after the first failed attempts, then the last one again and again: quick for a receiver that is restarted, slow for one that is down. */
const pausesMs = [1000, 5000, 30_000, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs, hourMs];

/** A receiver that asks for more waits as if it had not answered. */
const longestPauseMs = hourMs;

/** What an attempt makes of a delivery. One that waited behind others for more than a day has one attempt all the same. */
export function afterAttempt(delivery: DeliveryRecord, outcome: PostOutcome, now: Date): DeliveryRecord {
  const at = now.toISOString();
  const attempts = delivery.attempts + 1;
  const tried = { ...delivery, attempts, lastStatus: outcome.status, lastError: outcome.error, lastAttemptAt: at };
  if (outcome.error === null) return { ...tried, status: "delivered", endedAt: at };
  if (now.getTime() - Date.parse(delivery.createdAt) >= giveUpMs) return { ...tried, status: "dead", endedAt: at };
  return { ...tried, nextAt: new Date(now.getTime() + pauseMs(attempts, outcome.retryAfterMs)).toISOString() };
}

/**
 * Milliseconds until its next attempt; 0: it is due. So it is when its webhook was enabled since the last one: somebody wants to know. A clock that
 * was set back must not hold it up for longer than the longest pause.
 */
export function dueInMs({ lastAttemptAt, nextAt }: DeliveryRecord, { updatedAt }: Pick<WebhookRecord, "updatedAt">, now: Date): number {
  if (lastAttemptAt === null || lastAttemptAt < updatedAt) return 0;
  const leftMs = Date.parse(nextAt) - now.getTime();
  return leftMs <= 0 || leftMs > longestPauseMs ? 0 : leftMs;
}

function pauseMs(attempts: number, retryAfterMs = 0): number {
  const own = pausesMs[Math.min(attempts, pausesMs.length) - 1] as number;
  return Math.min(Math.max(own, retryAfterMs), longestPauseMs);
}
