import type { Lifecycle, Named } from "@torpor/core";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { teamOf } from "./caller.ts";

type Texts = Readonly<Record<string, unknown>>;

/** Who is of one team names that team's things only; those of others are as if they were not there. */
export function keepTeams(app: FastifyInstance, lifecycle: Lifecycle): void {
  app.addHook("preHandler", async (request) => {
    const team = teamOf(request);
    if (team === undefined) return;
    for (const named of namedBy(request)) await lifecycle.requireOwn(team, { ...named, reading: request.method === "GET" });
  });
}

/** By their names in the contract: a test asks with each of them, in each route that has them. */
function namedBy({ routeOptions, params, query, body }: FastifyRequest): Named[] {
  const { id, nid, oid, wid } = params as Texts;
  const { sandbox, with: other } = query as Texts;
  const asked = typeof body === "object" && body !== null && !Buffer.isBuffer(body) ? (body as Texts) : {};
  const webhook = routeOptions.url?.startsWith("/v1/webhooks/") === true ? wid : undefined;
  return [
    ...all("sandbox", [id, sandbox, other, asked.sandbox]),
    ...all("snapshot", [nid, asked.snapshot]),
    ...all("operation", [oid]),
    ...all("webhook", [webhook]),
  ];
}

function all(kind: Named["kind"], ids: readonly unknown[]): Named[] {
  return ids.flatMap((id) => (typeof id === "string" ? [{ kind, id }] : []));
}
