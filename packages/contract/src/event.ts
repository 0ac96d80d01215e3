import { z } from "zod";

/** Events are past tense and append-only; `seq` grows by one over all sandboxes of a store. */
export const Event = z.object({
  seq: z.number().int(),
  sandboxId: z.string(),
  operationId: z.string().nullable(),
  type: z.string(),
  data: z.record(z.string(), z.unknown()),
  at: z.iso.datetime(),
});
export type Event = z.infer<typeof Event>;

export const EventList = z.object({ events: z.array(Event) });

/** A type of events, all of a group, or all: `sandbox.paused`, `sandbox.*`, `*`. */
export const EventPattern = z
  .string()
  .max(64)
  .regex(/^(\*|[a-z][a-z_]*(\.[a-z][a-z_]*)*(\.\*)?)$/, "a type of events looks like sandbox.paused, sandbox.* or *");

/** `next`: what was looked at; as `after` of the next call it gives what comes then. */
export const EventPage = z.object({ events: z.array(Event), next: z.number().int() });
export type EventPage = z.infer<typeof EventPage>;
