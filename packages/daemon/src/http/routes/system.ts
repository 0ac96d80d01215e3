import { buildOpenApi, routes } from "@torpor/contract";
import type { FastifyInstance } from "fastify";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

/** The API's version: that of its document, which grows with every change of the contract. */
const apiVersion = "1.0.0";

export function serveSystem(app: FastifyInstance, { info, lifecycle, metrics }: Served): void {
  let document: Record<string, unknown> | undefined;
  serve(app, routes.health, async () => ({ status: "ok" }));
  // It listens only once it has recovered.
  serve(app, routes.healthz, async () => {
    await lifecycle.capacity();
    return { status: "ok" };
  });
  serve(app, routes.metrics, async ({ reply }) => {
    const text = await metrics.scrape({ sandboxes: () => lifecycle.list(), pool: async () => (await info()).pool });
    return reply.type(metrics.contentType).serializer(String).send(text);
  });
  serve(app, routes.version, async () => ({ version: (await info()).version, api: "v1" }));
  serve(app, routes.info, async () => info());
  serve(app, routes.capabilities, async () => {
    const { engine, capabilities } = await info();
    return { engine: engine.name, capabilities };
  });
  serve(app, routes.openapi, async () => {
    document ??= buildOpenApi(apiVersion);
    return document;
  });
}
