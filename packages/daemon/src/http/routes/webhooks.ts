import { routes } from "@torpor/contract";
import type { FastifyInstance } from "fastify";
import { teamOf } from "../caller.ts";
import { defined } from "../defined.ts";
import { onceOf } from "../once.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

export function serveWebhooks(app: FastifyInstance, { lifecycle }: Served): void {
  const { webhooks } = lifecycle;
  serve(app, routes.createWebhook, async ({ body, request, reply }) => {
    const created = await webhooks.create(body, { once: onceOf(request, body), team: teamOf(request) });
    reply.code(201).header("cache-control", "no-store");
    return created;
  });
  serve(app, routes.listWebhooks, async ({ request }) => ({ webhooks: await webhooks.list(teamOf(request)) }));
  serve(app, routes.getWebhook, async ({ params }) => webhooks.get(params.wid));
  serve(app, routes.removeWebhook, async ({ params }) => webhooks.remove(params.wid));
  serve(app, routes.pauseWebhook, async ({ params }) => webhooks.pause(params.wid));
  serve(app, routes.enableWebhook, async ({ params }) => webhooks.enable(params.wid));
  serve(app, routes.testWebhook, async ({ params }) => webhooks.test(params.wid));
  serve(app, routes.listDeliveries, async ({ params, query }) => ({ deliveries: await webhooks.deliveries(params.wid, defined(query)) }));
}
