/** Cron expressions with time zones. */
export interface Schedules {
  /** The first instant after the given one; undefined: there is none. invalid_request: the expression or the zone can't be read. */
  next(cron: string, timezone: string, after: Date): Date | undefined;
}
