import { routes } from "@torpor/contract";
import type { FastifyInstance } from "fastify";
import { readToEnd, runToEnd } from "../exec.ts";
import { SessionKeys } from "../keyed-session.ts";
import { leaving } from "../leaving.ts";
import { onceOf } from "../once.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

export function serveSessions(app: FastifyInstance, { lifecycle, ids }: Served): void {
  const keys = new SessionKeys(ids);
  serve(app, routes.exec, async ({ params, body, request, reply }) => {
    const { sessions } = await lifecycle.guest(params.id);
    // The client's leaving ends the wait for output, never the process.
    const left = leaving(reply);
    return keys.start({
      sandbox: params.id,
      sessions,
      once: onceOf(request, body),
      argv: body.argv,
      start: (sessionId) => runToEnd(sessions, { ...body, sessionId }, left),
      again: (sessionId) => readToEnd(sessions, sessionId, left),
    });
  });
  serve(app, routes.startSession, async ({ params, body, request, reply }) => {
    const { sessions } = await lifecycle.guest(params.id);
    reply.code(201);
    return keys.start({
      sandbox: params.id,
      sessions,
      once: onceOf(request, body),
      argv: body.argv,
      start: (sessionId) => sessions.start({ ...body, sessionId, hold: false }),
      again: (sessionId) => sessions.get(sessionId),
    });
  });
  serve(app, routes.listSessions, async ({ params }) => ({ sessions: await (await lifecycle.guest(params.id)).sessions.list() }));
  serve(app, routes.getSession, async ({ params }) => (await lifecycle.guest(params.id)).sessions.get(params.sid));
  serve(app, routes.removeSession, async ({ params, query }) =>
    (await lifecycle.guest(params.id)).sessions.remove(params.sid, query.force ?? false),
  );
  serve(app, routes.signalSession, async ({ params, body }) => (await lifecycle.guest(params.id)).sessions.signal(params.sid, body.signal));
  serve(app, routes.resizeSession, async ({ params, body }) =>
    (await lifecycle.guest(params.id)).sessions.resize(params.sid, body.rows, body.columns),
  );
}
