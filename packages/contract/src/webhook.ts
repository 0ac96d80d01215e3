import { z } from "zod";
import { EventPattern } from "./event.ts";
import { SandboxParams } from "./route-shape.ts";
import { Labels } from "./sandbox.ts";

/** As Standard Webhooks has it: `whsec_` and 24 to 64 bytes in base64. */
export const WebhookSecret = z
  .string()
  .regex(/^whsec_([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, "a secret is whsec_ and base64")
  .refine((text) => isBetween(secretBytes(text), 24, 64), "a secret has 24 to 64 bytes in base64 after whsec_");

/** Credentials in it would be shown in lists. */
export const WebhookUrl = z
  .url({ protocol: /^https?$/, error: "an address looks like https://host/path" })
  .max(2048)
  .regex(/^[^#\s]*$/, "an address has no spaces and no #")
  .regex(/^[a-z]+:\/\/[^/?@]+([/?]|$)/i, "an address has no user and password: the receiver knows its messages by their signature");

export const CreateWebhookRequest = z.strictObject({
  url: WebhookUrl,
  /** Default: a new one. */
  secret: WebhookSecret.optional(),
  /** Default: all. */
  types: z.array(EventPattern).min(1).max(32).optional(),
  /** Only of this sandbox: its id or name. */
  sandbox: SandboxParams.shape.id.optional(),
  /** Only of sandboxes that have all of these when it happens. */
  labels: Labels.optional(),
  description: z.string().max(200).optional(),
});
export type CreateWebhookRequest = z.infer<typeof CreateWebhookRequest>;

export const WebhookState = z.enum(["enabled", "paused"]);

/** A receiver of events, without its secret. */
export const Webhook = z.object({
  id: z.string(),
  url: z.string(),
  types: z.array(z.string()),
  sandboxId: z.string().nullable(),
  labels: Labels,
  /** Only of sandboxes of this team. Absent or null: of all. */
  team: z.string().nullable().optional(),
  description: z.string().nullable(),
  state: WebhookState,
  /** Not delivered yet. */
  pending: z.number().int(),
  /** Given up. */
  dead: z.number().int(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type Webhook = z.infer<typeof Webhook>;
export const WebhookList = z.object({ webhooks: z.array(Webhook) });
export const CreatedWebhook = z.object({ webhook: Webhook, secret: z.string() });
export type CreatedWebhook = z.infer<typeof CreatedWebhook>;

export const DeliveryStatus = z.enum(["pending", "delivered", "dead"]);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** One event on its way to one webhook. */
export const Delivery = z.object({
  /** The `webhook-id` of its messages, the same at each attempt. */
  id: z.string(),
  webhookId: z.string(),
  sandboxId: z.string(),
  seq: z.number().int(),
  type: z.string(),
  status: DeliveryStatus,
  attempts: z.number().int(),
  /** HTTP status of the last attempt; null: there was no answer. */
  lastStatus: z.number().int().nullable(),
  lastError: z.string().nullable(),
  createdAt: z.iso.datetime(),
  lastAttemptAt: z.iso.datetime().nullable(),
  /** Of the next attempt; null: there will be none. */
  nextAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
});
export type Delivery = z.infer<typeof Delivery>;
export const DeliveryList = z.object({ deliveries: z.array(Delivery) });

export const WebhookTest = z.object({
  delivered: z.boolean(),
  status: z.number().int().nullable(),
  error: z.string().nullable(),
  durationMs: z.number(),
});
export type WebhookTest = z.infer<typeof WebhookTest>;

/** The body of a message, as Standard Webhooks has it; `data` is the event. */
export interface WebhookMessage {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function secretBytes(text: string): number {
  const base64 = text.slice("whsec_".length);
  return (base64.length / 4) * 3 - (base64.match(/=/g)?.length ?? 0);
}

function isBetween(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
