import { randomUUID } from "node:crypto";
import { routes, TorporError } from "@torpor/contract";
import type { FastifyInstance } from "fastify";
import { readToEnd, runToEnd } from "../exec.ts";
import { SessionKeys } from "../keyed-session.ts";
import { leaving } from "../leaving.ts";
import { onceOf } from "../once.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";
import { placeOf, type SessionClients } from "../session-clients.ts";

/** Input of one call, in bytes. */
const inputLimitBytes = 4 * 1024 * 1024;

export function serveSessions(app: FastifyInstance, { lifecycle, ids }: Served, clients: SessionClients): void {
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
      // The image's command is not known here: what else was asked for tells requests apart.
      argv: body.argv,
      start: (sessionId) => lifecycle.sessions.begin(params.id, { ...body, sessionId }),
      again: (sessionId) => lifecycle.sessions.get(params.id, sessionId),
    });
  });
  serve(app, routes.listSessions, async ({ params }) => ({ sessions: await lifecycle.sessions.list(params.id) }));
  serve(app, routes.getSession, ({ params: { id, sid } }) => lifecycle.sessions.get(id, sid));
  serve(app, routes.startSupervised, ({ params: { id, sid } }) => lifecycle.sessions.start(id, sid));
  serve(app, routes.stopSupervised, ({ params: { id, sid } }) => lifecycle.sessions.stop(id, sid));
  serve(app, routes.restartSupervised, ({ params: { id, sid } }) => lifecycle.sessions.restart(id, sid));
  serve(app, routes.removeSession, ({ params: { id, sid }, query }) => lifecycle.sessions.remove(id, sid, query.force ?? false));
  serve(app, routes.signalSession, async ({ params, body }) => (await lifecycle.guest(params.id)).sessions.signal(params.sid, body.signal));
  serve(app, routes.resizeSession, async ({ params: { id, sid }, body }) => {
    const { sessions, sandboxId } = await lifecycle.guest(id);
    await sessions.resize(sid, body.rows, body.columns);
    clients.resized(placeOf(sandboxId, sid), body);
  });
  // A scope of its own, where a body of any type is bytes.
  app.register((uploads, _options, done) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: inputLimitBytes }, (_request, body, done) => done(null, body));
    serve(uploads, routes.writeSession, async ({ params: { id, sid }, query: { client, offset = 0, end = false }, request }) => {
      const { sessions } = await lifecycle.guest(id);
      if (client === undefined && offset > 0) throw new TorporError("invalid_request", "an offset is that of a client: client is missing");
      const data = (request.body as Buffer | undefined) ?? new Uint8Array(0);
      return { taken: await sessions.write(sid, { client: client ?? randomUUID(), offset, data, end }) };
    });
    done();
  });
}
