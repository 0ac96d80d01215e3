import { TorporError } from "@torpor/contract";
import type { Schedules } from "../ports/schedules.ts";

const minuteMs = 60_000;

/** Every so many minutes, or the minute of each hour, in UTC: all that tests of the lifecycle need. */
export class MemorySchedules implements Schedules {
  next(cron: string, timezone: string, after: Date): Date | undefined {
    if (timezone !== "UTC" && timezone !== "Europe/Berlin") throw unreadable(`there is no time zone ${timezone}`);
    if (/^\S+ \S+ 30 2 \*$/.test(cron)) return undefined;
    const [, every, minute] = /^(?:\*\/(\d+)|(\d+)) \* \* \* \*$/.exec(cron) ?? [];
    if ((every === undefined && minute === undefined) || Number(minute ?? 0) > 59) throw unreadable(`the schedule ${cron} can't be read`);
    const matches = (at: Date) => (every === undefined ? at.getUTCMinutes() === Number(minute) : at.getUTCMinutes() % Number(every) === 0);
    let at = new Date((Math.floor(after.getTime() / minuteMs) + 1) * minuteMs);
    while (!matches(at)) at = new Date(at.getTime() + minuteMs);
    return at;
  }
}

function unreadable(message: string): TorporError {
  return new TorporError("invalid_request", message);
}
