import { routes } from "@torpor/contract";
import type { FastifyInstance } from "fastify";
import { runToEnd } from "../exec.ts";
import { leaving } from "../leaving.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

export function serveSessions(app: FastifyInstance, { lifecycle, ids }: Served): void {
  serve(app, routes.exec, async ({ params, body, reply }) => {
    const { sessions } = await lifecycle.guest(params.id);
    // The client's leaving ends the wait for output, never the process.
    return runToEnd(sessions, { ...body, sessionId: ids.next("se") }, leaving(reply));
  });
  serve(app, routes.startSession, async ({ params, body, reply }) => {
    const { sessions } = await lifecycle.guest(params.id);
    reply.code(201);
    return sessions.start({ ...body, sessionId: ids.next("se"), hold: false });
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
