import { routes } from "@torpor/contract";
import type { FastifyInstance } from "fastify";
import { teamOf } from "../caller.ts";
import { answerOperation, callOptions } from "../operation-answer.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

export function serveSnapshots(app: FastifyInstance, { lifecycle }: Served): void {
  const { snapshots } = lifecycle;
  serve(app, routes.createSnapshot, async ({ params, body, ...call }) =>
    answerOperation(call.reply, 201, await lifecycle.snapshot(params.id, body, callOptions(call, body))),
  );
  serve(app, routes.listSnapshots, async ({ request }) => ({ snapshots: await snapshots.list(teamOf(request)) }));
  serve(app, routes.getSnapshot, async ({ params }) => snapshots.get(params.nid));
  serve(app, routes.updateSnapshot, async ({ params, body }) => snapshots.update(params.nid, body));
  serve(app, routes.removeSnapshot, async ({ params, query }) => snapshots.remove(params.nid, { force: query.force ?? false }));
  serve(app, routes.restoreSandbox, async ({ params, body, ...call }) =>
    answerOperation(call.reply, 200, await lifecycle.restore(params.id, body, callOptions(call, body))),
  );
  serve(app, routes.rebaseSandbox, async ({ params, body, ...call }) =>
    answerOperation(call.reply, 200, await lifecycle.rebase(params.id, body, callOptions(call, body))),
  );
  serve(app, routes.rollbackSandbox, async ({ params, body, ...call }) =>
    answerOperation(call.reply, 200, await lifecycle.rollback(params.id, callOptions(call, { rollback: body }))),
  );
}
