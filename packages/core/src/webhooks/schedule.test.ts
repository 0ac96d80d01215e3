import { describe, expect, test } from "vitest";
import type { DeliveryRecord } from "../ports/outbox.ts";
import { down } from "../testing/memory-receivers.ts";
import { afterAttempt, dueInMs } from "./schedule.ts";

describe("the schedule", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const delivery = { attempts: 0, createdAt: at, lastAttemptAt: null, nextAt: at, status: "pending" } as unknown as DeliveryRecord;
  const webhook = { updatedAt: "2025-01-01T00:00:00.000Z" };

  test("of a receiver that is away grows to an hour, for a day", () => {
    const pauses: number[] = [];
    let now = new Date(delivery.createdAt);
    for (let next = afterAttempt(delivery, down, now); next.status === "pending"; next = afterAttempt(next, down, now)) {
      pauses.push(dueInMs(next, webhook, now) / 1000);
      now = new Date(next.nextAt);
    }
    expect(pauses.slice(0, 8)).toEqual([1, 5, 30, 120, 600, 1800, 3600, 3600]);
    expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBeGreaterThanOrEqual(24 * 3600);
  });

  test("heeds a receiver that asks for time, up to an hour", () => {
    const now = new Date(delivery.createdAt);
    const pauseAfter = (retryAfterMs: number) => dueInMs(afterAttempt(delivery, { ...down, retryAfterMs }, now), webhook, now);
    expect([pauseAfter(10), pauseAfter(60_000), pauseAfter(10 ** 9)]).toEqual([1000, 60_000, 3_600_000]);
  });

  test("begins anew when somebody enables the webhook", () => {
    const now = new Date(at);
    const tried = afterAttempt(delivery, down, now);
    expect(dueInMs(tried, { updatedAt: at }, now)).toBe(1000);
    expect(dueInMs(tried, { updatedAt: "2026-01-01T00:00:00.001Z" }, now)).toBe(0);
  });

  test("a clock that was set back holds nothing up for long", () => {
    const tried = afterAttempt(delivery, down, new Date("2026-01-01T12:00:00.000Z"));
    expect(dueInMs(tried, webhook, new Date("2026-01-01T02:00:00.000Z"))).toBe(0);
    expect(dueInMs(delivery, webhook, new Date("2025-01-01T00:00:00.000Z"))).toBe(0);
  });
});
