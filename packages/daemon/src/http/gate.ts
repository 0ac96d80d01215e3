import { type Need, socketProtocols, TorporError } from "@torpor/contract";
import { type Access, type Caller, requireAllTeams, requireScope } from "@torpor/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { admit } from "./caller.ts";
import type { Hosts } from "./hosts.ts";
import { LiveCalls } from "./live-calls.ts";

export interface Gate {
  readonly access: Access;
  readonly hosts: Hosts;
  /** Of the browsers' cookie. Cookies know no ports, so each daemon of a host has another. */
  readonly cookie: string;
}

/** Answers of the API are nothing that a browser should show, run, keep or hand on. The page has headers of its own. */
const headers = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
} as const;

/** Lets nobody in who has no token or cookie, or not the scope that the route needs. */
export function keepGate(app: FastifyInstance, gate: Gate): void {
  const live = new LiveCalls();
  const forget = gate.access.onEnd((ended) => live.cut(ended));
  app.addHook("onClose", async () => void forget());
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(headers);
    // Balancers of load ask for it by any name.
    if (request.routeOptions.url !== "/healthz") gate.hosts.check(request);
    const need = needOf(request);
    if (need === "public") return;
    const caller = await identify(gate, request, reply);
    const doing = `${request.method} ${request.routeOptions.url ?? ""}`.trim();
    requireScope(caller, need, doing);
    if (need === "*" && request.routeOptions.config.host === true) requireAllTeams(caller, doing);
    admit(request, caller);
    if (caller.credential !== undefined) live.add(request, reply, caller.credential, Date.now());
  });
}

/** A route that says nothing is for those who may do everything. */
function needOf(request: FastifyRequest): Need {
  return request.is404 ? "any" : (request.routeOptions.config.scope ?? "*");
}

async function identify({ access, hosts, cookie }: Gate, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
  const authorization = request.headers.authorization ?? offeredBy(request);
  try {
    if (authorization !== undefined) return await access.identify("token", bearerOf(authorization));
    const session = request.cookies[cookie];
    if (session === undefined) throw nothing();
    const caller = await access.identify("session", session);
    // Also before a WebSocket: browsers open those to any server, and with its cookie.
    if (request.ws || !isRead(request)) hosts.checkOrigin(request);
    else hosts.checkReader(request);
    return caller;
  } catch (error) {
    if (error instanceof TorporError && error.code === "unauthorized") reply.header("www-authenticate", "Bearer");
    throw error;
  }
}

/** What a WebSocket of a browser has in place of the header. */
function offeredBy({ ws, headers }: FastifyRequest): string | undefined {
  if (!ws) return undefined;
  const offers = (headers["sec-websocket-protocol"] ?? "").split(",").map((offer) => offer.trim());
  const token = offers.find((offer) => offer.startsWith(socketProtocols.token))?.slice(socketProtocols.token.length);
  return token === undefined ? undefined : `Bearer ${token}`;
}

function isRead({ method }: FastifyRequest): boolean {
  return method === "GET" || method === "HEAD";
}

function bearerOf(authorization: string): string {
  const [, token] = /^Bearer +(\S{1,200})$/i.exec(authorization) ?? [];
  if (token !== undefined) return token;
  throw new TorporError("unauthorized", "the Authorization header is not of the form Bearer TOKEN", {
    hint: "send Authorization: Bearer torpor_…",
  });
}

function nothing(): TorporError {
  return new TorporError("unauthorized", "the call has no token", {
    hint: "send Authorization: Bearer TOKEN (torpor token create makes one, torpor login keeps it); torpor open prints a link for a browser",
  });
}
