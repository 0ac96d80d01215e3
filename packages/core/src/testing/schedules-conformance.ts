import { describe, expect, test } from "vitest";
import type { Schedules } from "../ports/schedules.ts";

export function schedulesConformance(name: string, schedules: Schedules): void {
  describe(`${name} keeps the contract of schedules`, () => {
    const at = (text: string) => new Date(`2026-01-01T${text}Z`);

    test.each([
      ["*/15 * * * *", "00:00:00", "00:15:00"],
      ["*/15 * * * *", "00:14:59.999", "00:15:00"],
      ["30 * * * *", "00:30:00", "01:30:00"],
      ["30 * * * *", "00:29:00", "00:30:00"],
    ])("%s after %s comes at %s", (cron, after, next) => {
      expect(schedules.next(cron, "UTC", at(after))).toEqual(at(next));
    });

    test("one that never comes has no instant", () => {
      expect(schedules.next("0 9 30 2 *", "UTC", at("00:00:00"))).toBeUndefined();
    });

    test.each([
      ["x", "UTC"],
      ["61 * * * *", "UTC"],
      ["* * *", "UTC"],
      ["0 * * * *", "Mars/Olympus"],
    ])("%s in %s is refused", (cron, zone) => {
      expect(() => schedules.next(cron, zone, at("00:00:00"))).toThrowError(expect.objectContaining({ code: "invalid_request" }));
    });
  });
}
