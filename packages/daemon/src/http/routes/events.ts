import { routes, TorporError } from "@torpor/contract";
import type { FastifyInstance } from "fastify";
import { teamOf } from "../caller.ts";
import { defined } from "../defined.ts";
import { cutOffWhenStalled, eventStream } from "../event-stream.ts";
import { lastEventId } from "../last-event-id.ts";
import { leaving } from "../leaving.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";
import { startStream } from "../start-stream.ts";

export function serveEvents(app: FastifyInstance, { lifecycle }: Served): void {
  const { feed } = lifecycle;
  serve(app, routes.events, async ({ query, request, reply }) => {
    const filter = defined({ sandbox: query.sandbox, types: query.type, team: teamOf(request) });
    const { after, limit } = query;
    if (!(request.headers.accept ?? "").includes("text/event-stream")) return feed.list(filter, defined({ after, limit }));
    if (limit !== undefined) throw new TorporError("invalid_request", "a stream has no end, so it takes no limit");
    const from = lastEventId(request) ?? after;
    const batches = feed.follow(filter, { ...defined({ after: from }), signal: leaving(reply) });
    const stream = await startStream(eventStream(batches));
    cutOffWhenStalled(reply);
    return reply.type("text/event-stream").header("cache-control", "no-store").serializer(String).send(stream);
  });
}
