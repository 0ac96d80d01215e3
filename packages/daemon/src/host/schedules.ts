import { TorporError } from "@torpor/contract";
import type { Schedules } from "@torpor/core";
import { Cron } from "croner";

/** Cron expressions of five or six fields, by croner; daylight saving is that of the zone. */
export const cronSchedules: Schedules = {
  next(cron, timezone, after) {
    try {
      return new Cron(cron, { timezone, paused: true, mode: "5-or-6-parts" }).nextRun(after) ?? undefined;
    } catch (error) {
      const reason = (error as Error).message.replace(/^\w+: /, "");
      throw new TorporError(
        "invalid_request",
        `the schedule ${JSON.stringify(cron)} in ${JSON.stringify(timezone)} can't be read: ${reason}`,
        {
          hint: "minute, hour, day of month, month, day of week, as in 0 9 * * 1-5, and a zone such as Europe/Berlin",
        },
      );
    }
  },
};
