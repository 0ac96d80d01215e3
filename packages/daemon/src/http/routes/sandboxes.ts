import { defaultWaitMs, routes } from "@torpor/contract";
import type { FastifyInstance } from "fastify";
import { teamOf } from "../caller.ts";
import { defined } from "../defined.ts";
import { answerOperation, callOptions } from "../operation-answer.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

/** Default tail of a log, in bytes. */
const logLimitBytes = 1024 * 1024;

export function serveSandboxes(app: FastifyInstance, { lifecycle }: Served): void {
  serve(app, routes.createSandbox, async ({ body, ...call }) =>
    answerOperation(call.reply, 201, await lifecycle.create(body, callOptions(call, body))),
  );
  serve(app, routes.listSandboxes, async ({ query: { state, label, limit, after }, request }) =>
    lifecycle.page({
      ...defined({ team: teamOf(request) }),
      ...(state === undefined ? {} : { states: state }),
      ...(label === undefined ? {} : { labels: Object.fromEntries(label.map(splitLabel)) }),
      ...(limit === undefined ? {} : { limit }),
      ...(after === undefined ? {} : { after }),
    }),
  );
  serve(app, routes.getSandbox, async ({ params }) => lifecycle.get(params.id));
  serve(app, routes.updateSandbox, async ({ params, query, body }) =>
    lifecycle.update(params.id, body, { waitMs: query.wait ?? defaultWaitMs }),
  );
  serve(app, routes.refreshSandbox, async ({ params, query, body }) =>
    lifecycle.refresh(params.id, body, { waitMs: query.wait ?? defaultWaitMs }),
  );
  serve(app, routes.removeSandbox, async ({ params, ...call }) => {
    const request = call.query.force === undefined ? {} : { force: call.query.force };
    return answerOperation(call.reply, 200, await lifecycle.remove(params.id, request, callOptions(call, request)));
  });
  serve(app, routes.pauseSandbox, async ({ params, body, ...call }) =>
    answerOperation(call.reply, 200, await lifecycle.pause(params.id, body, callOptions(call, body))),
  );
  serve(app, routes.resumeSandbox, async ({ params, body, ...call }) =>
    answerOperation(call.reply, 200, await lifecycle.resume(params.id, body, callOptions(call, body))),
  );
  serve(app, routes.stopSandbox, async ({ params, body, ...call }) =>
    answerOperation(call.reply, 200, await lifecycle.stop(params.id, body, callOptions(call, body))),
  );
  serve(app, routes.startSandbox, async ({ params, body, ...call }) =>
    answerOperation(call.reply, 200, await lifecycle.start(params.id, body, callOptions(call, body))),
  );
  serve(app, routes.forkSandbox, async ({ params, body, ...call }) =>
    answerOperation(call.reply, 201, await lifecycle.fork(params.id, body, callOptions(call, body))),
  );
  serve(app, routes.tree, async ({ query, request }) => ({ members: await lifecycle.family(query.sandbox, teamOf(request)) }));
  serve(app, routes.sandboxLogs, async ({ params, query, reply }) => {
    const text = await lifecycle.logs(params.id, query.limit ?? logLimitBytes);
    return reply.type("text/plain; charset=utf-8").send(text);
  });
}

function splitLabel(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
}
