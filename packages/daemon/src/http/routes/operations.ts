import { defaultWaitMs, routes } from "@torpor/contract";
import type { FastifyInstance } from "fastify";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

export function serveOperations(app: FastifyInstance, { lifecycle }: Served): void {
  serve(app, routes.getOperation, async ({ params }) => lifecycle.operation(params.oid));
  serve(app, routes.cancelOperation, async ({ params, query, reply }) => {
    const answer = await lifecycle.cancel(params.oid, { waitMs: query.wait ?? defaultWaitMs });
    reply.code(answer.operation.status === "running" ? 202 : 200);
    return answer;
  });
  serve(app, routes.listOperations, async ({ params }) => ({ operations: await lifecycle.operations(params.id) }));
  serve(app, routes.listEvents, async ({ params, query }) => ({
    events: await lifecycle.events(params.id, {
      ...(query.after === undefined ? {} : { after: query.after }),
      ...(query.limit === undefined ? {} : { limit: query.limit }),
    }),
  }));
}
