import type { WebSocket } from "@fastify/websocket";
import { objectionsTo, routes, StartSessionRequest, TorporError } from "@torpor/contract";
import type { GuestSessions, SessionStart } from "@torpor/core";
import type { FastifyInstance } from "fastify";
import { toTorporError } from "../error-answer.ts";
import { serveSocket } from "../register.ts";
import type { Served } from "../served.ts";
import { SessionInput } from "../session-input.ts";
import { pumpFrames, sendError } from "../session-output.ts";

export function serveSessionSockets(app: FastifyInstance, { lifecycle, ids }: Served): void {
  serveSocket(
    app,
    routes.execSocket,
    async ({ params }) => (await lifecycle.guest(params.id)).sessions,
    (socket, sessions, request) => {
      const fail = (error: unknown) => sendError(socket, toTorporError(error, request));
      // The first message is the request; everything after it is for the session.
      socket.once("message", (data, isBinary) => {
        try {
          const start = { ...parseStart(data as Buffer, isBinary), sessionId: ids.next("se"), hold: true };
          connect(socket, sessions, start, fail);
        } catch (error) {
          fail(error);
        }
      });
    },
  );
  serveSocket(
    app,
    routes.attachSession,
    async ({ params, query }) => ({
      sessions: (await lifecycle.guest(params.id)).sessions,
      sid: params.sid,
      after: query.after ?? 0,
      hold: query.hold ?? true,
    }),
    (socket, { sessions, sid, after, hold }, request) => {
      const input = new SessionInput(socket, sessions, sid, undefined);
      const left = leaving(socket);
      pumpFrames(socket, sessions.attach(sid, after, hold, left), () => input.open()).catch((error) =>
        sendError(socket, toTorporError(error, request)),
      );
    },
  );
}

function connect(socket: WebSocket, sessions: GuestSessions, start: SessionStart, fail: (error: unknown) => void): void {
  const input = new SessionInput(socket, sessions, start.sessionId, 0);
  pumpFrames(socket, sessions.run(start, leaving(socket)), () => input.open()).catch(fail);
}

/** Aborts when the client is gone: that ends the reading of output, never the process. */
function leaving(socket: WebSocket): AbortSignal {
  const left = new AbortController();
  socket.once("close", () => left.abort());
  return left.signal;
}

function parseStart(data: Buffer, isBinary: boolean): StartSessionRequest {
  if (isBinary) throw new TorporError("invalid_request", "the first message must be the request, as text");
  let value: unknown;
  try {
    value = JSON.parse(data.toString());
  } catch (error) {
    throw new TorporError("invalid_request", `the first message is not JSON: ${(error as Error).message}`);
  }
  const parsed = StartSessionRequest.safeParse(value);
  if (!parsed.success) throw new TorporError("invalid_request", `the request is not valid: ${objectionsTo(parsed.error.issues)}`);
  return parsed.data;
}
