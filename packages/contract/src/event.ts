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
