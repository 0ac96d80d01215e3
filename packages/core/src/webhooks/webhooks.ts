import {
  type CreatedWebhook,
  type CreateWebhookRequest,
  type Delivery,
  type DeliveryStatus,
  TorporError,
  type Webhook,
  type WebhookTest,
} from "@torpor/contract";
import { lookUp } from "../commands.ts";
import { keyRecord, type Once, recallKey } from "../idempotency.ts";
import type { DeliveryCount, DeliveryRecord, WebhookRecord } from "../ports/outbox.ts";
import type { Ports } from "../ports/ports.ts";
import { StoreConflict } from "../ports/store.ts";
import type { Courier } from "./courier.ts";
import { messageOf } from "./deliveries-of.ts";

export interface WebhookOptions {
  readonly once?: Once | undefined;
  /** Whose events alone it gets. Default: those of all teams. */
  readonly team?: string | undefined;
}

export interface Webhooks {
  /** The only answer with the secret; the same call with the same key gives the same answer again. */
  create(request: CreateWebhookRequest, options?: WebhookOptions): Promise<CreatedWebhook>;
  /** Oldest first; all, or those of a team. */
  list(team?: string): Promise<Webhook[]>;
  get(id: string): Promise<Webhook>;
  /** With its deliveries. */
  remove(id: string): Promise<void>;
  pause(id: string): Promise<Webhook>;
  /** What waits for its next attempt is sent at once. */
  enable(id: string): Promise<Webhook>;
  /** Sends one message now, once. */
  test(id: string): Promise<WebhookTest>;
  deliveries(id: string, filter?: { readonly status?: DeliveryStatus; readonly limit?: number }): Promise<Delivery[]>;
}

/** Each is looked at with every event. */
const webhookLimit = 100;
const defaultLimit = 100;
const keyScope = "createWebhook";
const changeTries = 5;

export function createWebhooks(ports: Ports, courier: Courier): Webhooks {
  const { store, receivers, clock } = ports;
  const find = async (id: string): Promise<WebhookRecord> => {
    const found = await store.findWebhook(id);
    if (found === undefined)
      throw new TorporError("webhook_not_found", `there is no webhook ${id}`, { hint: "torpor webhook list shows them" });
    return found;
  };
  const show = async (record: WebhookRecord): Promise<Webhook> => viewOf(record, await store.countDeliveries());
  const change = async (id: string, changed: (found: WebhookRecord) => Promise<void>): Promise<void> => {
    for (let tries = 1; ; tries++) {
      const found = await find(id);
      try {
        return await changed(found);
      } catch (error) {
        if (tries === changeTries || !(error instanceof StoreConflict)) throw error;
      }
    }
  };
  const turn = async (id: string, state: WebhookRecord["state"]): Promise<Webhook> => {
    const updatedAt = clock.now().toISOString();
    // Also one that is enabled: what waits for its next attempt is then due.
    await change(id, (found) => store.commit({ webhooks: [{ ...found, state, updatedAt }] }));
    if (state === "enabled") courier.consider();
    return show(await find(id));
  };
  const recall = async (once: Once): Promise<CreatedWebhook | undefined> => {
    const key = await recallKey(ports, once, keyScope);
    if (key === undefined) return undefined;
    const record = await find(key.operationId);
    return { webhook: await show(record), secret: record.secret };
  };
  const make = async (request: CreateWebhookRequest, { once, team }: WebhookOptions): Promise<CreatedWebhook> => {
    const record = await newWebhook(ports, request, team ?? null);
    try {
      await store.commit({ webhooks: [record], keys: once === undefined ? [] : [keyRecord(ports, once, keyScope, record.id)] });
    } catch (error) {
      // The same call, sent twice at once.
      const other = once && error instanceof StoreConflict ? await recall(once) : undefined;
      if (other === undefined) throw error;
      return other;
    }
    return { webhook: await show(record), secret: record.secret };
  };
  return {
    create: async (request, options = {}) => (options.once && (await recall(options.once))) ?? make(request, options),
    async list(team) {
      const [records, counts] = await Promise.all([store.listWebhooks(), store.countDeliveries()]);
      const seen = records.filter((record) => team === undefined || record.team === team);
      return seen.map((record) => viewOf(record, counts));
    },
    get: async (id) => show(await find(id)),
    remove: (id) => change(id, (found) => store.commit({ removedWebhooks: [found] })),
    pause: (id) => turn(id, "paused"),
    enable: (id) => turn(id, "enabled"),
    async test(id) {
      const { url, secret } = await find(id);
      const at = clock.now();
      const began = clock.monotonicMs();
      const body = messageOf("webhook.test", at.toISOString(), { webhookId: id });
      const post = { url, secret, id: `${id}_test_${at.getTime()}`, at, body };
      const { status, error } = await receivers.post(post, new AbortController().signal);
      return { delivered: error === null, status, error, durationMs: Math.round(clock.monotonicMs() - began) };
    },
    async deliveries(id, { status, limit = defaultLimit } = {}) {
      const { id: webhookId } = await find(id);
      const found = await store.listDeliveries({ webhookId, limit, ...(status === undefined ? {} : { status }) });
      return found.map(deliveryView);
    },
  };
}

async function newWebhook(ports: Ports, request: CreateWebhookRequest, team: string | null): Promise<WebhookRecord> {
  const { store, receivers, clock, ids } = ports;
  const { url, secret, types = ["*"], sandbox, labels = {}, description } = request;
  receivers.check(url);
  if ((await store.listWebhooks()).length >= webhookLimit)
    throw new TorporError("too_many_webhooks", `there are ${webhookLimit} webhooks already: remove one first`);
  const at = clock.now().toISOString();
  return {
    id: ids.next("wh"),
    version: 0,
    url,
    secret: secret ?? receivers.newSecret(),
    types,
    sandboxId: sandbox === undefined ? null : (await lookUp(ports, sandbox)).id,
    labels,
    team,
    description: description ?? null,
    state: "enabled",
    createdAt: at,
    updatedAt: at,
  };
}

function viewOf({ version: _version, secret: _secret, ...shown }: WebhookRecord, counts: readonly DeliveryCount[]): Webhook {
  const count = (status: DeliveryStatus) => counts.find((one) => one.webhookId === shown.id && one.status === status)?.count ?? 0;
  return { ...shown, pending: count("pending"), dead: count("dead") };
}

function deliveryView({ body: _body, nextAt, ...shown }: DeliveryRecord): Delivery {
  return { ...shown, nextAt: shown.status === "pending" ? nextAt : null };
}
