import { z } from "zod";

/** Largest body of a call to a wake URL, in bytes. */
export const wakeBodyLimitBytes = 1024 * 1024;

/** Once, by a schedule, or by a call to its URL. */
export const WakeKind = z.enum(["at", "cron", "url"]);

/** Ten years. */
export const longestWakeMs = 315_360_000_000;

export const CreateWakeRequest = z
  .strictObject({
    /** Once, then. */
    at: z.iso.datetime({ offset: true }).optional(),
    /** Once, so long from now on. */
    afterMs: z.number().int().min(1).max(longestWakeMs).optional(),
    /** By a schedule of five fields: minute, hour, day of month, month, day of week; with six the first is the second. */
    cron: z.string().min(1).max(256).optional(),
    /** Of `cron`, such as Europe/Berlin. Default UTC. */
    timezone: z.string().min(1).max(64).optional(),
    /** By a call to an address of its own. */
    url: z.literal(true).optional(),
    /** Calls to the address must be signed with a secret, which comes with the answer. */
    signed: z.boolean().optional(),
    /** For people; it comes with each wake. */
    label: z.string().max(255).optional(),
  })
  .refine(
    ({ at, afterMs, cron, url }) => [at, afterMs, cron, url].filter((value) => value !== undefined).length === 1,
    "one of at, afterMs, cron and url is needed",
  )
  .refine(({ cron, timezone }) => cron !== undefined || timezone === undefined, "timezone goes with cron")
  .refine(({ url, signed }) => url !== undefined || signed === undefined, "signed goes with url");
export type CreateWakeRequest = z.infer<typeof CreateWakeRequest>;

/** What resumes a paused sandbox. */
export const Wake = z.object({
  id: z.string(),
  sandboxId: z.string(),
  kind: WakeKind,
  label: z.string().nullable(),
  cron: z.string().nullable(),
  timezone: z.string().nullable(),
  /** When it wakes the sandbox next; null for a URL. */
  nextAt: z.iso.datetime().nullable(),
  signed: z.boolean(),
  createdAt: z.iso.datetime(),
  /** When it did so last. */
  lastAt: z.iso.datetime().nullable(),
});
export type Wake = z.infer<typeof Wake>;

/** The path and the secret of a URL are told this once. */
export const CreatedWake = Wake.extend({ path: z.string().nullable(), secret: z.string().nullable() });
export type CreatedWake = z.infer<typeof CreatedWake>;

export const WakeList = z.object({
  wakes: z.array(Wake),
  /** Wakes that are stored, and not in the sandbox's queue yet. */
  pending: z.number().int(),
});
export type WakeList = z.infer<typeof WakeList>;

export const WakeAccepted = z.object({ id: z.string() });
export type WakeAccepted = z.infer<typeof WakeAccepted>;
