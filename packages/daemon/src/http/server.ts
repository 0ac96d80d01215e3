import websocket from "@fastify/websocket";
import { closeCodes } from "@torpor/contract";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import { checkRequest } from "./check-request.ts";
import { answerError, answerUnknownRoute } from "./error-answer.ts";
import { parseJson } from "./json-body.ts";
import { parseQuery } from "./query.ts";
import { serveDiff } from "./routes/diff.ts";
import { serveEvents } from "./routes/events.ts";
import { serveFiles } from "./routes/files.ts";
import { serveImages } from "./routes/images.ts";
import { serveInterpreters } from "./routes/interpreters.ts";
import { serveOperations } from "./routes/operations.ts";
import { servePorts } from "./routes/ports.ts";
import { serveSandboxes } from "./routes/sandboxes.ts";
import { serveSessionSockets } from "./routes/session-sockets.ts";
import { serveSessions } from "./routes/sessions.ts";
import { serveSnapshots } from "./routes/snapshots.ts";
import { serveSystem } from "./routes/system.ts";
import { serveWakes } from "./routes/wakes.ts";
import { serveWebhooks } from "./routes/webhooks.ts";
import type { Served } from "./served.ts";
import { SessionClients } from "./session-clients.ts";

/** Largest JSON body of most routes, in bytes. */
const bodyLimitBytes = 1024 * 1024;
/** Largest message of a client's WebSocket, in bytes: input comes in pieces, and the first message is a request. */
const messageLimitBytes = 4 * 1024 * 1024;

/** The API over what it is given. It listens nowhere yet. */
export async function createHttpServer(served: Served, options: { logger?: FastifyBaseLogger } = {}): Promise<FastifyInstance> {
  const app = Fastify({
    ...(options.logger === undefined ? {} : { loggerInstance: options.logger }),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyLimitBytes,
    // Longer than any id or name: such a thing never reaches a pattern.
    routerOptions: { maxParamLength: 128, querystringParser: parseQuery },
    // Streams of output and files have no time limit of their own.
    requestTimeout: 0,
    forceCloseConnections: true,
    frameworkErrors: answerError,
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(answerUnknownRoute);
  app.addHook("onRequest", checkRequest);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, parseJson);

  await app.register(websocket, { options: { maxPayload: messageLimitBytes, perMessageDeflate: false }, preClose: closeSockets });
  const sessionClients = new SessionClients();
  serveSandboxes(app, served);
  serveDiff(app, served);
  serveOperations(app, served);
  serveEvents(app, served);
  serveWebhooks(app, served);
  servePorts(app, served);
  serveInterpreters(app, served);
  serveSessions(app, served, sessionClients);
  serveSessionSockets(app, served, sessionClients);
  serveSnapshots(app, served);
  serveImages(app, served);
  serveSystem(app, served);
  serveFiles(app, served);
  serveWakes(app, served);
  await app.ready();
  return app;
}

/** Clients come back when the daemon does: what they were connected to goes on. */
function closeSockets(this: FastifyInstance, done: () => void): void {
  for (const client of this.websocketServer.clients) client.close(closeCodes.shutdown);
  this.websocketServer.close();
  done();
}
