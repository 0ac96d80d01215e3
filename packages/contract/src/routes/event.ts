import { z } from "zod";
import { Event, EventPage, EventPattern } from "../event.ts";
import { queryInteger, queryList, route, SandboxParams } from "../route-shape.ts";

export const eventRoutes = {
  events: route({
    method: "GET",
    path: "/v1/events",
    tag: "operations",
    scope: "sandbox:read",
    summary:
      "Events of all sandboxes, oldest first; with Accept: text/event-stream as they come, after Last-Event-ID or `after`, else from now on.",
    query: z.strictObject({
      after: queryInteger(Number.MAX_SAFE_INTEGER).optional().describe("Only those with a higher seq; 0: all that are kept."),
      limit: queryInteger(10_000).optional().describe("At most so many; not for a stream. Default 1000."),
      sandbox: SandboxParams.shape.id.optional().describe("Only those of one sandbox: its id or name, or the id of a removed one."),
      type: queryList(EventPattern, 32)
        .optional()
        .describe("Only those of these types, with commas between them: sandbox.paused, sandbox.*"),
    }),
    responses: { 200: { kind: "events", schema: EventPage, event: Event } },
  }),
} as const;
