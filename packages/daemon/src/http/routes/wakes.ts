import { routes } from "@torpor/contract";
import type { WakeCall } from "@torpor/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { onceOf } from "../once.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

/** Of the connection, not of what is sent; and what lets a caller in here is nothing for a sandbox. */
const keptBack: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "authorization",
]);

export function serveWakes(app: FastifyInstance, { lifecycle }: Served): void {
  serve(app, routes.createWake, async ({ params, body, request, reply }) => {
    reply.code(201);
    const once = onceOf(request, body);
    return lifecycle.createWake(params.id, body, once === undefined ? {} : { once });
  });
  serve(app, routes.listWakes, async ({ params }) => lifecycle.listWakes(params.id));
  serve(app, routes.removeWake, async ({ params }) => lifecycle.removeWake(params.id, params.wid));

  const call = async ({ params, request, reply }: { params: { token: string }; request: FastifyRequest; reply: FastifyReply }) => {
    const accepted = await lifecycle.callWake(params.token, callOf(request));
    reply.code(202);
    return accepted;
  };
  // A scope of its own, where a body of any type is bytes.
  app.register((calls, _options, done) => {
    calls.removeAllContentTypeParsers();
    calls.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, parsed) => parsed(null, body));
    serve(calls, routes.callWake, call);
    serve(calls, routes.callWakeByPut, call);
    serve(calls, routes.callWakeByGet, call);
    done();
  });
}

function callOf({ method, url, body, raw }: FastifyRequest): WakeCall {
  const at = url.indexOf("?");
  const headers: [string, string][] = [];
  for (let index = 0; index < raw.rawHeaders.length; index += 2) {
    const [name = "", value = ""] = raw.rawHeaders.slice(index, index + 2);
    if (!keptBack.has(name.toLowerCase())) headers.push([name, value]);
  }
  return { method, query: at < 0 ? "" : url.slice(at + 1), headers, body: Buffer.isBuffer(body) ? body.toString("base64") : "" };
}
