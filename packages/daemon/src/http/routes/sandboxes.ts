import { defaultWaitMs, type OperationAnswer, routes } from "@torpor/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import { operationError } from "../error-answer.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

/** Default tail of a log, in bytes. */
const logLimitBytes = 1024 * 1024;

export function serveSandboxes(app: FastifyInstance, { lifecycle }: Served): void {
  serve(app, routes.createSandbox, async ({ body, query, reply }) => answer(reply, 201, await lifecycle.create(body, waiting(query))));
  serve(app, routes.listSandboxes, async () => ({ sandboxes: await lifecycle.list() }));
  serve(app, routes.getSandbox, async ({ params }) => lifecycle.get(params.id));
  serve(app, routes.removeSandbox, async ({ params, query, reply }) =>
    answer(reply, 200, await lifecycle.remove(params.id, query.force === undefined ? {} : { force: query.force }, waiting(query))),
  );
  serve(app, routes.pauseSandbox, async ({ params, body, query, reply }) =>
    answer(reply, 200, await lifecycle.pause(params.id, body, waiting(query))),
  );
  serve(app, routes.resumeSandbox, async ({ params, body, query, reply }) =>
    answer(reply, 200, await lifecycle.resume(params.id, body, waiting(query))),
  );
  serve(app, routes.stopSandbox, async ({ params, body, query, reply }) =>
    answer(reply, 200, await lifecycle.stop(params.id, body, waiting(query))),
  );
  serve(app, routes.startSandbox, async ({ params, body, query, reply }) =>
    answer(reply, 200, await lifecycle.start(params.id, body, waiting(query))),
  );
  serve(app, routes.forkSandbox, async ({ params, body, query, reply }) =>
    answer(reply, 201, await lifecycle.fork(params.id, body, waiting(query))),
  );
  serve(app, routes.sandboxLogs, async ({ params, query, reply }) => {
    const text = await lifecycle.logs(params.id, query.limit ?? logLimitBytes);
    return reply.type("text/plain; charset=utf-8").send(text);
  });
}

function waiting(query: { wait?: number | undefined }): { waitMs: number } {
  return { waitMs: query.wait ?? defaultWaitMs };
}

/** An ended operation answers with its outcome, one that goes on with 202. */
function answer(reply: FastifyReply, status: number, { operation, sandbox }: OperationAnswer): OperationAnswer {
  if (operation.error !== null) throw operationError(operation.error, operation.id);
  reply.code(operation.status === "running" ? 202 : status);
  return { operation, sandbox };
}
