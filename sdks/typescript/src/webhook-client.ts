import type { CreatedWebhook, CreateWebhookRequest, Delivery, DeliveryStatus, Webhook, WebhookTest } from "@torpor/contract";
import { refuseUnknown } from "./refuse-unknown.ts";
import type { Transport } from "./transport.ts";

/** Where a daemon sends events. */
export class WebhookClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The answer alone has the secret by which messages are known to be the daemon's. */
  create(body: CreateWebhookRequest): Promise<CreatedWebhook> {
    return this.#transport.json("createWebhook", { body });
  }

  async list(): Promise<Webhook[]> {
    return (await this.#transport.json<{ webhooks: Webhook[] }>("listWebhooks")).webhooks;
  }

  get(wid: string): Promise<Webhook> {
    return this.#transport.json("getWebhook", { params: { wid } });
  }

  /** With what it has not delivered. */
  remove(wid: string): Promise<void> {
    return this.#transport.json("removeWebhook", { params: { wid } });
  }

  /** What happens meanwhile is kept for it. */
  pause(wid: string): Promise<Webhook> {
    return this.#transport.json("pauseWebhook", { params: { wid } });
  }

  enable(wid: string): Promise<Webhook> {
    return this.#transport.json("enableWebhook", { params: { wid } });
  }

  /** Sends one message now, once. */
  test(wid: string): Promise<WebhookTest> {
    return this.#transport.json("testWebhook", { params: { wid } });
  }

  /** Newest first. */
  async deliveries(wid: string, filter: { status?: DeliveryStatus; limit?: number } = {}): Promise<Delivery[]> {
    refuseUnknown(filter, { status: true, limit: true });
    return (await this.#transport.json<{ deliveries: Delivery[] }>("listDeliveries", { params: { wid }, query: filter })).deliveries;
  }
}
