import { EventEmitter } from "node:events";
import type { RequestListener, Server } from "node:http";
import cookie from "@fastify/cookie";
import websocket from "@fastify/websocket";
import { closeCodes } from "@torpor/contract";
import { owner } from "@torpor/core";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyServerOptions, LogController } from "fastify";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import { admit } from "./caller.ts";
import { checkRequest } from "./check-request.ts";
import { answerError, answerUnknownRoute } from "./error-answer.ts";
import { keepGate } from "./gate.ts";
import type { Hosts } from "./hosts.ts";
import { parseJson } from "./json-body.ts";
import { measureRequests } from "./measure.ts";
import { servePage } from "./page.ts";
import type { PortHosts } from "./port-hosts.ts";
import { PortProxy } from "./port-proxy.ts";
import { parseQuery } from "./query.ts";
import { serveAccess } from "./routes/access.ts";
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
import { serveStats } from "./routes/stats.ts";
import { serveSystem } from "./routes/system.ts";
import { serveTeams } from "./routes/teams.ts";
import { serveWakes } from "./routes/wakes.ts";
import { serveWebhooks } from "./routes/webhooks.ts";
import type { Served } from "./served.ts";
import { SessionClients } from "./session-clients.ts";
import { splitServer } from "./split-server.ts";
import { keepTeams } from "./teams.ts";

/** Largest JSON body of most routes, in bytes. */
const bodyLimitBytes = 1024 * 1024;
/** Largest message of a client's WebSocket, in bytes: input comes in pieces, and the first message is a request. */
const messageLimitBytes = 4 * 1024 * 1024;

export interface HttpOptions {
  readonly logger?: FastifyBaseLogger;
  /** For strangers too, at an address of TCP. Default: for the owner alone, at a socket. */
  readonly tcp?: {
    /** With the page's built files. */
    readonly page: string;
    readonly hosts: Hosts;
    readonly portHosts: PortHosts;
    /** Of the daemon: its browsers' cookie is named after it. */
    readonly instance: string;
    /** PEM. */
    readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  };
}

type Tcp = NonNullable<HttpOptions["tcp"]>;

/** The API over what it is given. It listens nowhere yet. */
export async function createHttpServer(served: Served, { logger, tcp }: HttpOptions = {}): Promise<FastifyInstance> {
  const upgrades = new EventEmitter();
  const app: FastifyInstance = Fastify({
    ...(logger === undefined ? {} : { loggerInstance: logger }),
    ...(tcp === undefined
      ? {}
      : {
          serverFactory: (api: RequestListener) =>
            splitServer(
              api,
              upgrades,
              proxyOf(served, tcp, () => app),
              tcp.tls,
            ),
        }),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyLimitBytes,
    // Longer than any id or name: such a thing never reaches a pattern.
    routerOptions: { maxParamLength: 128, querystringParser: parseQuery },
    // Streams of output and files have no time limit of their own.
    requestTimeout: 0,
    forceCloseConnections: true,
    frameworkErrors: answerError,
  } as FastifyServerOptions);
  app.decorate("answers", served.lifecycle.answers);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(answerUnknownRoute);
  const gate = tcp && { access: served.lifecycle.access, hosts: tcp.hosts, cookie: `torpor_${tcp.instance}` };
  if (gate === undefined) app.addHook("onRequest", async (request) => admit(request, owner));
  app.addHook("onRequest", checkRequest);
  measureRequests(app, served.metrics);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, parseJson);

  // Without an address of TCP the server's own upgrades are the API's.
  const server = tcp === undefined ? {} : { server: upgrades as Server };
  await app.register(websocket, {
    options: { ...server, maxPayload: messageLimitBytes, perMessageDeflate: false },
    preClose: closeSockets,
  });
  if (gate !== undefined) {
    await app.register(cookie);
    keepGate(app, gate);
    keepTeams(app, served.lifecycle);
  }
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
  serveStats(app, served);
  serveSystem(app, served);
  serveFiles(app, served);
  serveWakes(app, served);
  serveAccess(app, served, gate);
  serveTeams(app, served);
  if (tcp !== undefined) await servePage(app, tcp.page);
  await app.ready();
  return app;
}

function proxyOf({ lifecycle }: Served, { portHosts }: Tcp, app: () => FastifyInstance): PortProxy {
  return new PortProxy({ lifecycle, hosts: portHosts, fault: (error) => app().log.error({ err: error }, "fault of the proxy of ports") });
}

/** Clients come back when the daemon does: what they were connected to goes on. */
function closeSockets(this: FastifyInstance, done: () => void): void {
  for (const client of this.websocketServer.clients) client.close(closeCodes.shutdown);
  this.websocketServer.close();
  done();
}
