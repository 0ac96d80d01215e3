import type { Delivery, DeliveryStatus, Webhook } from "@torpor/contract";

/** What clients see of a webhook, and what is kept for the receiver's eyes only. */
export interface WebhookRecord extends Omit<Webhook, "pending" | "dead"> {
  readonly version: number;
  readonly secret: string;
}

export interface DeliveryRecord extends Omit<Delivery, "nextAt"> {
  /** Of no meaning once it has ended. */
  readonly nextAt: string;
  /** The message as it is signed and sent: its event may be forgotten before. */
  readonly body: string;
}

/**
 * Webhooks and what is on its way to them. Whoever commits events writes the deliveries of each in the same transaction: one for each webhook
 * that it is for (`deliveriesOf`). A webhook and its deliveries go together.
 */
export interface Outbox {
  findWebhook(id: string): Promise<WebhookRecord | undefined>;
  /** Oldest first. */
  listWebhooks(): Promise<WebhookRecord[]>;
  /** The first pending one of each sandbox: they go one after the other. Those to be sent first come first. */
  firstDeliveries(filter: { webhookId: string; sandboxId?: string; limit: number }): Promise<DeliveryRecord[]>;
  /** Newest first. */
  listDeliveries(filter: { webhookId: string; status?: DeliveryStatus; limit: number }): Promise<DeliveryRecord[]>;
  /** Of each webhook, how many it has in which status; none where there are none. */
  countDeliveries(): Promise<readonly DeliveryCount[]>;
}

export interface DeliveryCount {
  readonly webhookId: string;
  readonly status: DeliveryStatus;
  readonly count: number;
}
