import { defaultWaitMs, type OperationAnswer, routes } from "@torpor/contract";
import type { CallOptions } from "@torpor/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { operationError } from "../error-answer.ts";
import { onceOf } from "../once.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

/** Default tail of a log, in bytes. */
const logLimitBytes = 1024 * 1024;

export function serveSandboxes(app: FastifyInstance, { lifecycle }: Served): void {
  serve(app, routes.createSandbox, async ({ body, ...call }) => answer(call.reply, 201, await lifecycle.create(body, options(call, body))));
  serve(app, routes.listSandboxes, async () => ({ sandboxes: await lifecycle.list() }));
  serve(app, routes.getSandbox, async ({ params }) => lifecycle.get(params.id));
  serve(app, routes.updateSandbox, async ({ params, query, body }) =>
    lifecycle.update(params.id, body, { waitMs: query.wait ?? defaultWaitMs }),
  );
  serve(app, routes.refreshSandbox, async ({ params, query, body }) =>
    lifecycle.refresh(params.id, body, { waitMs: query.wait ?? defaultWaitMs }),
  );
  serve(app, routes.removeSandbox, async ({ params, ...call }) => {
    const request = call.query.force === undefined ? {} : { force: call.query.force };
    return answer(call.reply, 200, await lifecycle.remove(params.id, request, options(call, request)));
  });
  serve(app, routes.pauseSandbox, async ({ params, body, ...call }) =>
    answer(call.reply, 200, await lifecycle.pause(params.id, body, options(call, body))),
  );
  serve(app, routes.resumeSandbox, async ({ params, body, ...call }) =>
    answer(call.reply, 200, await lifecycle.resume(params.id, body, options(call, body))),
  );
  serve(app, routes.stopSandbox, async ({ params, body, ...call }) =>
    answer(call.reply, 200, await lifecycle.stop(params.id, body, options(call, body))),
  );
  serve(app, routes.startSandbox, async ({ params, body, ...call }) =>
    answer(call.reply, 200, await lifecycle.start(params.id, body, options(call, body))),
  );
  serve(app, routes.forkSandbox, async ({ params, body, ...call }) =>
    answer(call.reply, 201, await lifecycle.fork(params.id, body, options(call, body))),
  );
  serve(app, routes.tree, async ({ query }) => ({ members: await lifecycle.family(query.sandbox) }));
  serve(app, routes.sandboxLogs, async ({ params, query, reply }) => {
    const text = await lifecycle.logs(params.id, query.limit ?? logLimitBytes);
    return reply.type("text/plain; charset=utf-8").send(text);
  });
}

interface Asked {
  readonly query: { readonly wait?: number | undefined; readonly waitCapacity?: number | undefined };
  readonly request: FastifyRequest;
}

function options({ query, request }: Asked, asked: unknown): CallOptions {
  const once = onceOf(request, asked);
  return { waitMs: query.wait ?? defaultWaitMs, waitCapacityMs: query.waitCapacity ?? 0, ...(once === undefined ? {} : { once }) };
}

/** An ended operation answers with its outcome, one that goes on with 202. */
function answer(reply: FastifyReply, status: number, { operation, sandbox }: OperationAnswer): OperationAnswer {
  if (operation.error !== null) throw operationError(operation.error, operation.id);
  reply.code(operation.status === "running" ? 202 : status);
  return { operation, sandbox };
}
