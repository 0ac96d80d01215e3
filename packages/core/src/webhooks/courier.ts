import { TorporError } from "@torpor/contract";
import { describeError } from "../failure.ts";
import { Patience } from "../patience.ts";
import type { DeliveryRecord, WebhookRecord } from "../ports/outbox.ts";
import type { Ports } from "../ports/ports.ts";
import { afterAttempt, dueInMs } from "./schedule.ts";

/** Messages on their way to one webhook at a time: a slow receiver holds up nobody else. */
const atOnce = 8;
/** So long a pause or fork waits for receivers. */
const drainMs = 500;
/** So long an ending daemon waits for answers; what is then on its way is sent again by the next one. */
const farewellMs = 2000;
/** When the store fails: so far apart, and so often in a row, one tries again. */
const storePauseMs = 5000;
const storeTries = 100;

type Needs = Pick<Ports, "store" | "receivers" | "clock" | "log">;

/**
 * Brings what is in the outbox to its receivers: for one sandbox and webhook one after the other in the events' order, side by side otherwise.
 * An attempt is written down after its answer, so a kill in between repeats it with the same id: at least once. It is at work only while something
 * is pending, and sleeps until the next attempt is due.
 */
export class Courier {
  readonly #ports: Needs;
  /** By sandbox and webhook. */
  readonly #flying = new Map<string, { readonly webhookId: string; readonly landed: Promise<void> }>();
  readonly #ended = new AbortController();
  #stopping = false;
  #loop: Promise<void> | undefined;
  #asked = 0;
  #dealtWith = 0;
  #landings = 0;
  #wake: () => void = () => {};

  constructor(ports: Needs) {
    this.#ports = ports;
  }

  /** There may be something to deliver. */
  consider(): void {
    this.#asked++;
    this.#wake();
    if (this.#stopping || this.#loop !== undefined) return;
    this.#loop = this.#run().finally(() => {
      this.#loop = undefined;
      // It was asked in the instant in which it ended.
      if (this.#asked !== this.#dealtWith) this.consider();
    });
  }

  /** Attempts what is due of a sandbox, and gives receivers a short time for it. Never fails. */
  async drain(sandboxId: string): Promise<void> {
    const patience = new Patience(this.#ports.clock, drainMs);
    try {
      const webhooks = await this.#enabled();
      await Promise.all(webhooks.map((webhook) => this.#drainLane(webhook, sandboxId, patience)));
    } catch (error) {
      this.#ports.log.error("a sandbox's webhooks could not be looked after", { sandbox: sandboxId, cause: describeError(error) });
    }
  }

  /** Nothing is sent from here on. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wake();
    const landings = [...this.#flying.values()].map(({ landed }) => landed);
    await new Patience(this.#ports.clock, farewellMs).outlasts(Promise.all(landings));
    this.#ended.abort(new TorporError("shutting_down", "the daemon ends"));
    await Promise.all([...landings, this.#loop]);
  }

  async #run(): Promise<void> {
    for (let failures = 0; failures < storeTries && !this.#stopping; ) {
      this.#dealtWith = this.#asked;
      try {
        const restMs = await this.#round();
        failures = 0;
        if (this.#asked !== this.#dealtWith) continue;
        if (restMs === undefined && this.#flying.size === 0) return;
        await this.#rest(restMs);
      } catch (error) {
        failures++;
        this.#ports.log.error("webhooks could not be looked after", { cause: describeError(error) });
        await this.#rest(storePauseMs);
      }
    }
  }

  /** Sends all that is due, as far as there is room. Gives the time until more is; undefined: nothing waits for its time. */
  async #round(): Promise<number | undefined> {
    let restMs: number | undefined;
    for (const webhook of await this.#enabled()) {
      // Those on their way, as many as may join them, and the one that is due next.
      await this.#look({ webhookId: webhook.id, limit: 2 * atOnce + 1 }, (delivery) => {
        const leftMs = dueInMs(delivery, webhook, this.#ports.clock.now());
        if (leftMs > 0) restMs = Math.min(restMs ?? leftMs, leftMs);
        else if (this.#countFlying(webhook.id) < atOnce) this.#send(webhook, delivery);
      });
    }
    return restMs;
  }

  async #drainLane(webhook: WebhookRecord, sandboxId: string, patience: Patience): Promise<void> {
    const lane = laneOf(webhook.id, sandboxId);
    for (let due = true; due && !this.#stopping; ) {
      due = this.#flying.has(lane);
      if (!due)
        await this.#look({ webhookId: webhook.id, sandboxId, limit: 1 }, (delivery) => {
          due = dueInMs(delivery, webhook, this.#ports.clock.now()) === 0;
          if (due) this.#send(webhook, delivery);
        });
      if (!(await patience.outlasts(this.#flying.get(lane)?.landed ?? Promise.resolve()))) return;
    }
  }

  /** Shows the first of each lane that nobody is at, as it is now: what was read while an attempt ended is read again. */
  async #look(filter: Parameters<Needs["store"]["firstDeliveries"]>[0], use: (delivery: DeliveryRecord) => void): Promise<void> {
    for (;;) {
      const landings = this.#landings;
      const found = await this.#ports.store.firstDeliveries(filter);
      if (landings !== this.#landings) continue;
      for (const delivery of found) if (!this.#flying.has(laneOf(delivery.webhookId, delivery.sandboxId))) use(delivery);
      return;
    }
  }

  #send(webhook: WebhookRecord, delivery: DeliveryRecord): void {
    if (this.#stopping) return;
    const lane = laneOf(webhook.id, delivery.sandboxId);
    const landed = this.#attempt(webhook, delivery)
      .catch((error: unknown) => {
        if (!this.#ended.signal.aborted)
          this.#ports.log.error("a webhook's delivery could not be written down", { delivery: delivery.id, cause: describeError(error) });
      })
      .finally(() => {
        this.#landings++;
        this.#flying.delete(lane);
        this.consider();
      });
    this.#flying.set(lane, { webhookId: webhook.id, landed });
  }

  async #attempt({ url, secret }: WebhookRecord, delivery: DeliveryRecord): Promise<void> {
    const { receivers, clock, log } = this.#ports;
    const { id, body } = delivery;
    const outcome = await receivers.post({ url, secret, id, at: clock.now(), body }, this.#ended.signal);
    const tried = afterAttempt(delivery, outcome, clock.now());
    if (tried.status === "dead") log.error("a webhook's delivery was given up", { delivery: id, cause: tried.lastError });
    await this.#write(tried);
  }

  /** Rather than send it again: the receiver has it. */
  async #write(delivery: DeliveryRecord): Promise<void> {
    const { store, clock } = this.#ports;
    for (let tries = 1; ; tries++) {
      try {
        await store.commit({ deliveries: [delivery] });
        return;
      } catch (error) {
        if (tries === storeTries || this.#stopping) throw error;
        await clock.sleep(storePauseMs, this.#ended.signal);
      }
    }
  }

  /** Until something is asked for, an attempt ends, or the time is over. */
  async #rest(ms: number | undefined): Promise<void> {
    const over = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#stopping) return;
    const asleep = ms === undefined ? [] : [this.#ports.clock.sleep(ms, over.signal).catch(() => {})];
    await Promise.race([woken, ...asleep]);
    over.abort();
  }

  async #enabled(): Promise<WebhookRecord[]> {
    return (await this.#ports.store.listWebhooks()).filter(({ state }) => state === "enabled");
  }

  #countFlying(webhookId: string): number {
    return [...this.#flying.values()].filter((flight) => flight.webhookId === webhookId).length;
  }
}

function laneOf(webhookId: string, sandboxId: string): string {
  return `${webhookId} ${sandboxId}`;
}
