import { type Identity, routes, TorporError } from "@torpor/contract";
import type { Caller } from "@torpor/core";
import type { FastifyInstance } from "fastify";
import { callerOf } from "../caller.ts";
import { FailedLogins } from "../failed-logins.ts";
import type { Gate } from "../gate.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

/** Tokens for whoever may make them, and the signing in of browsers at a gate. Without a gate, at the socket, nobody signs in. */
export function serveAccess(app: FastifyInstance, { lifecycle: { access } }: Served, gate: Gate | undefined): void {
  serve(app, routes.createToken, async ({ body, request, reply }) => {
    reply.code(201).header("cache-control", "no-store");
    return access.createToken(callerOf(request), body);
  });
  serve(app, routes.listTokens, async ({ request }) => ({ tokens: await access.tokens(callerOf(request)) }));
  serve(app, routes.revokeToken, async ({ params, request }) => access.revokeToken(callerOf(request), params.tid));
  serve(app, routes.createLoginCode, async ({ request, reply }) => {
    reply.code(201).header("cache-control", "no-store");
    return access.createLoginCode(callerOf(request));
  });
  serve(app, routes.whoami, async ({ request }) => identityOf(callerOf(request)));

  const failures = new FailedLogins();
  serve(app, routes.login, async ({ body, request, reply }) => {
    const { hosts, cookie } = gate ?? noBrowsers();
    if (request.headers.origin !== undefined) hosts.checkOrigin(request);
    const address = hosts.addressOf(request);
    failures.check(address);
    try {
      const { caller, secret, expiresAt } = await access.login(body);
      const secure = hosts.isSecure(request);
      reply.setCookie(cookie, secret, { httpOnly: true, sameSite: "strict", path: "/", secure, expires: new Date(expiresAt) });
      return identityOf(caller);
    } catch (error) {
      if (error instanceof TorporError && error.code === "unauthorized") failures.failed(address);
      throw error;
    }
  });
  serve(app, routes.logout, async ({ request, reply }) => {
    const { hosts, cookie } = gate ?? noBrowsers();
    hosts.checkOrigin(request);
    const session = request.cookies[cookie];
    reply.clearCookie(cookie, { httpOnly: true, sameSite: "strict", path: "/", secure: hosts.isSecure(request) });
    if (session !== undefined) await access.logout(session);
  });
}

function identityOf({ credential: _credential, ...shown }: Caller): Identity {
  return shown;
}

function noBrowsers(): never {
  throw new TorporError("invalid_request", "nobody signs in at the socket: whoever may open it is the owner", {
    hint: "sign in at an address that torpor info shows",
  });
}
