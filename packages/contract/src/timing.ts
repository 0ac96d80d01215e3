import { z } from "zod";

/** What happens to a sandbox whose `ttlMs` or `idleMs` is over. */
export const OnTimeout = z.enum(["pause", "stop", "remove"]);
export type OnTimeout = z.infer<typeof OnTimeout>;

/** Shorter ones would end a sandbox while it boots. */
const shortestMs = 1000;
/** Ten years. */
const longestMs = 315_360_000_000;

const Lifetime = z
  .number()
  .int("a number of milliseconds is whole")
  .min(shortestMs, `at least ${shortestMs} ms are needed; null means none`)
  .max(longestMs, `at most ${longestMs} ms (ten years) are allowed`);

/** How a sandbox's life is bounded in time. In a request null takes a bound away, and what is absent stays as it is. */
export const timeSettings = {
  /** Running time until `onTimeout`; begins anew with each resume or start, and does not run while it is paused or stopped. Not over `hardTtlMs`. */
  ttlMs: Lifetime.nullable().optional(),
  /** Time until it is removed, in whatever state it is; from its creation on, or from when this was set. */
  hardTtlMs: Lifetime.nullable().optional(),
  /** Time without a command, session, port or file call until `onTimeout`. Looking at its record is no use. */
  idleMs: Lifetime.nullable().optional(),
  /** Default pause. */
  onTimeout: OnTimeout.optional(),
  /** A command, session, port or file call resumes it when it is paused. Default false. */
  autoResume: z.boolean().optional(),
} as const;

export const RefreshRequest = z.strictObject({
  /** The sandbox runs at least so long from now on. Default: its `ttlMs`. */
  ttlMs: Lifetime.optional(),
});
export type RefreshRequest = z.infer<typeof RefreshRequest>;

/** The settings, and the instants that follow from them. Absent in a stored record: null, pause, false. */
export const timingFields = {
  ...timeSettings,
  /** When `onTimeout` happens unless it is refreshed; null when it has no ttl or does not run. */
  expiresAt: z.iso.datetime().nullable().optional(),
  /** When it is removed. */
  hardExpiresAt: z.iso.datetime().nullable().optional(),
  /** Its last use, up to a tenth of `idleMs` late; null when it has no `idleMs`. */
  lastActiveAt: z.iso.datetime().nullable().optional(),
} as const;

const Timing = z.object(timingFields);
export type Timing = z.infer<typeof Timing>;
export type TimeSettings = Pick<Timing, keyof typeof timeSettings>;
