import type { Event, WebhookMessage } from "@torpor/contract";
import { isOfTypes } from "../events/matching.ts";
import type { DeliveryRecord, WebhookRecord } from "../ports/outbox.ts";

/** Of the event's sandbox, when it happened. */
export interface Facts {
  readonly labels: Readonly<Record<string, string>>;
  /** undefined: not known. */
  readonly team: string | undefined;
}

/** What a store writes with an event: its deliveries. */
export function deliveriesOf(webhooks: readonly WebhookRecord[], event: Event, facts: Facts): DeliveryRecord[] {
  return webhooks.filter((webhook) => isFor(webhook, event, facts)).map(({ id }) => newDelivery(id, event));
}

function isFor({ types, sandboxId, labels: wanted, team }: WebhookRecord, event: Event, facts: Facts): boolean {
  return (
    isOfTypes(event.type, types) &&
    ((team ?? null) === null || team === facts.team) &&
    (sandboxId === null || sandboxId === event.sandboxId) &&
    Object.entries(wanted).every(([name, value]) => facts.labels[name] === value)
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
