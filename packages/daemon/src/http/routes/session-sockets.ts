import { randomUUID } from "node:crypto";
import type { WebSocket } from "@fastify/websocket";
import { objectionsTo, routes, StartSessionRequest, TorporError } from "@torpor/contract";
import type { GuestUse, SessionStart } from "@torpor/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { toTorporError } from "../error-answer.ts";
import { cutOffWhenStalled } from "../event-stream.ts";
import { lastEventId } from "../last-event-id.ts";
import { leaving } from "../leaving.ts";
import { serveSocket } from "../register.ts";
import type { Served } from "../served.ts";
import { placeOf, type SessionClients } from "../session-clients.ts";
import { sessionEvents } from "../session-events.ts";
import { markLive } from "../session-frames.ts";
import { SessionInput } from "../session-input.ts";
import { endedByClosing, pumpFrames, sendError } from "../session-output.ts";
import { checkReading, type Reading, readSession } from "../session-reading.ts";
import { startStream } from "../start-stream.ts";

export function serveSessionSockets(app: FastifyInstance, { lifecycle, ids }: Served, clients: SessionClients): void {
  serveSocket(
    app,
    routes.execSocket,
    async ({ params, query }) => ({ guest: await lifecycle.guest(params.id), client: query.client }),
    (socket, { guest, client }, request) => {
      const fail = failing(socket, request);
      // The first message is the request; everything after it is for the session.
      socket.once("message", (data, isBinary) => {
        try {
          const start = { ...parseStart(data as Buffer, isBinary), sessionId: ids.next("se"), hold: true };
          connect(socket, { guest, clients, sid: start.sessionId, client, writes: true, supervised: false }, start).catch(fail);
        } catch (error) {
          fail(error);
        }
      });
    },
  );
  serveSocket(
    app,
    routes.attachSession,
    async ({ params: { id, sid }, query, request }) => {
      const guest = await lifecycle.guest(id);
      const { after = 0, mode = "write", client, takeover = false } = query;
      const writes = mode === "write" && isUpgrade(request);
      const reading = { sessions: guest.sessions, sid, after: lastEventId(request) ?? after, hold: query.hold ?? writes, client };
      await checkReading(reading);
      const supervised = writes && (await lifecycle.sessions.get(id, sid)).supervision !== undefined;
      return { reading, takeover, connection: { guest, clients, sid, client, writes, supervised } };
    },
    (socket, { reading, takeover, connection }, request) => {
      if (takeover) clients.kick(placeOf(connection.guest.sandboxId, reading.sid));
      connect(socket, connection, reading).catch(failing(socket, request));
    },
    async ({ reading }, request, reply) => sendEvents(reading, request, reply),
  );
}

/** A client that has gone broke the reading off itself: that is no failure. */
function failing(socket: WebSocket, request: FastifyRequest): (error: unknown) => void {
  return (error) => {
    if (socket.readyState === socket.OPEN) sendError(socket, toTorporError(error, request));
  };
}

interface Connection {
  readonly guest: GuestUse;
  readonly clients: SessionClients;
  readonly sid: string;
  readonly client: string | undefined;
  readonly writes: boolean;
  readonly supervised: boolean;
}

/** Joins a client to a session, one that begins with it or one that is there. */
async function connect(socket: WebSocket, connection: Connection, what: SessionStart | Reading): Promise<void> {
  const { guest, clients, sid, client, writes, supervised } = connection;
  const { sessions, sandboxId } = guest;
  const place = placeOf(sandboxId, sid);
  const input = new SessionInput(socket, {
    sessions,
    sessionId: sid,
    client,
    name: client ?? randomUUID(),
    writes,
    supervised,
    resized: (size) => clients.resized(place, size, socket),
  });
  clients.join(place, { socket, writes, client });
  const left = closing(socket);
  const frames = "sid" in what ? readSession(what, left) : markLive(sessions.run(what, left), undefined);
  await pumpFrames(socket, frames, () => input.open());
}

/** For clients without a WebSocket. A client that comes back after the end is told to stay away: EventSource would come back for ever. */
async function sendEvents(reading: Reading, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (!(request.headers.accept ?? "").includes("text/event-stream")) {
    throw new TorporError("invalid_request", "an attachment is a WebSocket or a stream of events", {
      hint: "Upgrade the connection to a WebSocket, or send Accept: text/event-stream.",
    });
  }
  const session = await reading.sessions.get(reading.sid);
  if (session.end !== null && lastEventId(request) === session.lastSeq) return reply.code(204).send();
  const left = leaving(reply);
  const frames = endedByClosing(readSession(reading, left));
  const stream = await startStream(sessionEvents(frames, (error) => (left.aborted ? undefined : toTorporError(error, request))));
  cutOffWhenStalled(reply);
  return reply.type("text/event-stream").header("cache-control", "no-store").serializer(String).send(stream);
}

/** Aborts when the client is gone: that ends the reading of output, never the process. */
function closing(socket: WebSocket): AbortSignal {
  const left = new AbortController();
  socket.once("close", () => left.abort());
  return left.signal;
}

const isUpgrade = ({ headers }: FastifyRequest): boolean => headers.upgrade?.toLowerCase() === "websocket";

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
