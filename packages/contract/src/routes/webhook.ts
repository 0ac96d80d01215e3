import { z } from "zod";
import { idOf, json, none, queryInteger, route } from "../route-shape.ts";
import { CreatedWebhook, CreateWebhookRequest, DeliveryList, DeliveryStatus, Webhook, WebhookList, WebhookTest } from "../webhook.ts";

const webhook = { tag: "webhooks", params: z.object({ wid: idOf("wh") }) } as const;

export const webhookRoutes = {
  createWebhook: route({
    method: "POST",
    path: "/v1/webhooks",
    tag: "webhooks",
    scope: "webhook",
    summary: "Send events to an address from now on; the answer alone has the secret that they are signed with.",
    body: CreateWebhookRequest,
    keyed: "begun",
    responses: { 201: json(CreatedWebhook) },
  }),
  listWebhooks: route({
    method: "GET",
    path: "/v1/webhooks",
    tag: "webhooks",
    scope: "webhook",
    summary: "All webhooks, oldest first.",
    responses: { 200: json(WebhookList) },
  }),
  getWebhook: route({
    scope: "webhook",
    ...webhook,
    method: "GET",
    path: "/v1/webhooks/{wid}",
    summary: "One webhook.",
    responses: { 200: json(Webhook) },
  }),
  removeWebhook: route({
    ...webhook,
    method: "DELETE",
    path: "/v1/webhooks/{wid}",
    scope: "webhook",
    summary: "Remove it, and what it has not delivered.",
    responses: { 204: none },
  }),
  pauseWebhook: route({
    ...webhook,
    method: "POST",
    path: "/v1/webhooks/{wid}/pause",
    scope: "webhook",
    summary: "Send nothing for the time being; what happens meanwhile is kept for it.",
    responses: { 200: json(Webhook) },
  }),
  enableWebhook: route({
    ...webhook,
    method: "POST",
    path: "/v1/webhooks/{wid}/enable",
    scope: "webhook",
    summary: "Send again, what was kept first; also when it is enabled: what waits for its next attempt is sent at once.",
    responses: { 200: json(Webhook) },
  }),
  testWebhook: route({
    ...webhook,
    method: "POST",
    path: "/v1/webhooks/{wid}/test",
    scope: "webhook",
    summary: "Send one message of type webhook.test now, once, and tell what came of it.",
    responses: { 200: json(WebhookTest) },
  }),
  listDeliveries: route({
    ...webhook,
    method: "GET",
    path: "/v1/webhooks/{wid}/deliveries",
    scope: "webhook",
    summary: "What it has to deliver, delivered, or gave up; newest first.",
    query: z.strictObject({
      status: DeliveryStatus.optional(),
      limit: queryInteger(1000).optional().describe("At most so many. Default 100."),
    }),
    responses: { 200: json(DeliveryList) },
  }),
} as const;
