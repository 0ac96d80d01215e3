import type { DeliveryStatus, Event } from "@torpor/contract";
import type { DeliveryCount, DeliveryRecord, Outbox, WebhookRecord } from "../ports/outbox.ts";
import { type Change, type Prune, StoreConflict } from "../ports/store.ts";
import { deliveriesOf, type Facts } from "../webhooks/deliveries-of.ts";

type Part = Pick<Change, "webhooks" | "removedWebhooks" | "deliveries">;

/** The outbox of the in-memory store. */
export class MemoryOutbox {
  readonly #webhooks = new Map<string, WebhookRecord>();
  readonly #deliveries = new Map<string, DeliveryRecord>();

  check({ webhooks = [], removedWebhooks = [] }: Part): void {
    for (const { id, version } of [...webhooks, ...removedWebhooks]) {
      const stored = this.#webhooks.get(id)?.version ?? 0;
      if (stored !== version) throw new StoreConflict("stale", `webhook ${id} is at version ${stored}, not ${version}`);
    }
  }

  apply({ webhooks = [], removedWebhooks = [], deliveries = [] }: Part): void {
    for (const record of webhooks) this.#webhooks.set(record.id, { ...structuredClone(record), version: record.version + 1 });
    for (const { id } of removedWebhooks) {
      this.#webhooks.delete(id);
      for (const delivery of this.#of(id)) this.#deliveries.delete(delivery.id);
    }
    for (const record of deliveries) if (this.#deliveries.has(record.id)) this.#deliveries.set(record.id, structuredClone(record));
  }

  add(event: Event, facts: Facts): void {
    for (const delivery of deliveriesOf([...this.#webhooks.values()], event, facts)) this.#deliveries.set(delivery.id, delivery);
  }

  find(id: string): WebhookRecord | undefined {
    return structuredClone(this.#webhooks.get(id));
  }

  list(): WebhookRecord[] {
    return structuredClone([...this.#webhooks.values()]);
  }

  first({ webhookId, sandboxId, limit }: Parameters<Outbox["firstDeliveries"]>[0]): DeliveryRecord[] {
    const lanes = new Map<string, DeliveryRecord>();
    for (const delivery of this.#of(webhookId)) {
      if (delivery.status !== "pending" || (sandboxId !== undefined && delivery.sandboxId !== sandboxId)) continue;
      if (!lanes.has(delivery.sandboxId)) lanes.set(delivery.sandboxId, delivery);
    }
    const soonest = [...lanes.values()].sort((a, b) => (a.nextAt < b.nextAt ? -1 : a.nextAt > b.nextAt ? 1 : a.seq - b.seq));
    return structuredClone(soonest.slice(0, limit));
  }

  deliveries({ webhookId, status, limit }: Parameters<Outbox["listDeliveries"]>[0]): DeliveryRecord[] {
    const wanted = this.#of(webhookId).filter((delivery) => status === undefined || delivery.status === status);
    return structuredClone(wanted.reverse().slice(0, limit));
  }

  counts(): DeliveryCount[] {
    const statuses: DeliveryStatus[] = ["pending", "delivered", "dead"];
    const all = [...this.#webhooks.keys()].flatMap((webhookId) => statuses.map((status) => ({ webhookId, status })));
    return all
      .map(({ webhookId, status }) => ({
        webhookId,
        status,
        count: this.#of(webhookId).filter((delivery) => delivery.status === status).length,
      }))
      .filter(({ count }) => count > 0);
  }

  prune({ now, before, undeliveredBefore, perSandbox }: Prune): number {
    const had = this.#deliveries.size;
    for (const webhookId of this.#webhooks.keys()) {
      for (const delivery of this.#of(webhookId))
        if (delivery.status === "pending" && delivery.createdAt < undeliveredBefore)
          this.#deliveries.set(delivery.id, { ...delivery, status: "dead", lastError: "it was kept too long", endedAt: now });
      const ended = this.#of(webhookId).filter(({ status }) => status !== "pending");
      for (const [place, { id, endedAt }] of ended.reverse().entries())
        if ((endedAt ?? "") < before || place >= perSandbox) this.#deliveries.delete(id);
    }
    return had - this.#deliveries.size;
  }

  /** In the order of their events. */
  #of(webhookId: string): DeliveryRecord[] {
    return [...this.#deliveries.values()].filter((delivery) => delivery.webhookId === webhookId);
  }
}
