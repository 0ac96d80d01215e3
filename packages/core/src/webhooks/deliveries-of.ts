import type { Event, WebhookMessage } from "@torpor/contract";
import { isOfTypes } from "../events/matching.ts";
import type { DeliveryRecord, WebhookRecord } from "../ports/outbox.ts";

type Labels = Readonly<Record<string, string>>;

/** What a store writes with an event: its deliveries. `labels` are the sandbox's when it happened. */
export function deliveriesOf(webhooks: readonly WebhookRecord[], event: Event, labels: Labels): DeliveryRecord[] {
  return webhooks.filter((webhook) => isFor(webhook, event, labels)).map(({ id }) => newDelivery(id, event));
}

function isFor({ types, sandboxId, labels: wanted }: WebhookRecord, event: Event, labels: Labels): boolean {
  return (
    isOfTypes(event.type, types) &&
    (sandboxId === null || sandboxId === event.sandboxId) &&
    Object.entries(wanted).every(([name, value]) => labels[name] === value)
  );
}

function newDelivery(webhookId: string, event: Event): DeliveryRecord {
  const { seq, sandboxId, type, at } = event;
  return {
    // No dot: Standard Webhooks signs id, time and body with dots between.
    id: `${webhookId}_${seq}`,
    webhookId,
    sandboxId,
    seq,
    type,
    status: "pending",
    attempts: 0,
    lastStatus: null,
    lastError: null,
    createdAt: at,
    lastAttemptAt: null,
    nextAt: at,
    endedAt: null,
    body: messageOf(type, at, event),
  };
}

export function messageOf(type: string, timestamp: string, data: WebhookMessage["data"]): string {
  return JSON.stringify({ type, timestamp, data } satisfies WebhookMessage);
}
