import type { WebSocket } from "@fastify/websocket";
import type { Need, Route } from "@torpor/contract";
import type { Answers } from "@torpor/core";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import type { z } from "zod";
import { answerOnce } from "./answered-once.ts";
import { keyOf } from "./once.ts";

declare module "fastify" {
  interface FastifyInstance {
    readonly answers: Answers;
  }
  interface FastifyContextConfig {
    /** What a token needs for the route. One without is for the owner alone. */
    scope?: Need;
    /** It concerns the host itself, not only the sandboxes of a team. */
    host?: boolean;
  }
}

export interface Call<R extends Route> {
  readonly params: z.output<R["params"]>;
  readonly query: z.output<R["query"]>;
  readonly body: R extends Route<z.ZodType, z.ZodType, infer B> ? z.output<B> : undefined;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Serves a route of the contract: what the handler gets is checked, what it gives is held to the answer's schema. */
export function serve<R extends Route>(app: FastifyInstance, route: R, handler: (call: Call<R>) => Promise<unknown>): void {
  app.route({
    ...options(route),
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const work = () => handler({ ...checked<R>(request), request, reply });
      const key = route.keyed === "answered" ? keyOf(request) : undefined;
      if (key !== undefined && !wantsLines(request)) return answerOnce(app.answers, key, { route, request, reply, work });
      const answer = await work();
      if (answer === undefined && !reply.sent && route.responses[204] !== undefined) return reply.code(204).send();
      return answer;
    },
  });
}

/** Progress is told as it comes, and asked for again it is that of work that is done. */
function wantsLines({ headers }: FastifyRequest): boolean {
  return (headers.accept ?? "").includes("application/x-ndjson");
}

/**
 * Serves a route whose connection becomes a WebSocket. `before` runs while it still is a plain call, so that its refusals
 * have a status and a body. `plain` answers those who did not ask for a WebSocket; without it there is no such route for them.
 */
export function serveSocket<R extends Route, T>(
  app: FastifyInstance,
  route: R,
  before: (call: Omit<Call<R>, "body">) => Promise<T>,
  handler: (socket: WebSocket, prepared: T, request: FastifyRequest) => void,
  plain?: (prepared: T, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  const prepared = new WeakMap<FastifyRequest, T>();
  const served = (socket: WebSocket, request: FastifyRequest) => handler(socket, prepared.get(request) as T, request);
  app.route({
    ...options(route),
    method: "GET",
    preHandler: async (request: FastifyRequest, reply: FastifyReply) => {
      prepared.set(request, await before({ ...checked<R>(request), request, reply }));
    },
    ...(plain === undefined
      ? { websocket: true, handler: served }
      : {
          handler: (request: FastifyRequest, reply: FastifyReply) => plain(prepared.get(request) as T, request, reply),
          wsHandler: served,
        }),
  } as never);
}

function options(route: Route): Pick<RouteOptions, "method" | "url" | "schema" | "preValidation" | "bodyLimit" | "config"> {
  const { body } = route;
  return {
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ":$1"),
    config: { scope: route.scope, ...(route.host === undefined ? {} : { host: route.host }) },
    ...(route.bodyLimitBytes === undefined ? {} : { bodyLimit: route.bodyLimitBytes }),
    schema: { params: route.params, querystring: route.query, ...(body === undefined ? {} : { body }), response: responseSchemas(route) },
    // A body that was left out counts as one without fields: the schema then names what is missing.
    ...(body === undefined
      ? {}
      : {
          preValidation: async (request: FastifyRequest) => {
            if (request.body === undefined) request.body = {};
          },
        }),
  };
}

function responseSchemas(route: Route): Record<string, z.ZodType> {
  const schemas: Record<string, z.ZodType> = {};
  for (const [status, content] of Object.entries(route.responses)) {
    if (content.kind === "json" || content.kind === "lines") schemas[status] = content.schema;
  }
  return schemas;
}

function checked<R extends Route>(request: FastifyRequest): Pick<Call<R>, "params" | "query" | "body"> {
  return { params: request.params, query: request.query, body: request.body } as Pick<Call<R>, "params" | "query" | "body">;
}
