import type { Desk } from "../desk.ts";
import { describeError } from "../failure.ts";
import { type Change, StoreConflict } from "../ports/store.ts";
import type { WakeRecord } from "../ports/wake-store.ts";
import { Timers } from "../time/timers.ts";
import { newDelivery } from "./new-delivery.ts";

/** After a store that failed. */
const againMs = 5000;

/**
 * Stores wakes that are due for their sandboxes, by one commit with the wake's next instant: so each instant is delivered once, and of those that were missed
 * one, which says how late it is.
 */
export class Alarms {
  readonly #desk: Desk;
  readonly #timers: Timers;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#timers = new Timers(desk.ports.clock, (wakeId) => this.#fire(wakeId));
  }

  async open(): Promise<void> {
    for (const wake of await this.#desk.ports.store.listWakes()) this.observe(wake);
  }

  close(): Promise<void> {
    return this.#timers.close();
  }

  /** The wake as it was committed. */
  observe({ id, nextAt }: WakeRecord): void {
    if (nextAt !== null) this.#timers.set(id, Date.parse(nextAt));
  }

  forget(wakeId: string): void {
    this.#timers.clear(wakeId);
  }

  async #fire(wakeId: string): Promise<void> {
    const { store, clock, log } = this.#desk.ports;
    try {
      const wake = await store.findWake(wakeId);
      if (wake === undefined || wake.nextAt === null) return;
      const isDue = Date.parse(wake.nextAt) <= clock.now().getTime();
      if (isDue) await store.commit(this.#change(wake));
      else this.observe(wake);
    } catch (error) {
      // It was revoked meanwhile, or its sandbox removed: the next look finds nothing.
      this.#timers.set(wakeId, clock.now().getTime() + againMs);
      if (error instanceof StoreConflict) return;
      log.error("a wake that is due could not be stored: it is tried again", { wake: wakeId, cause: describeError(error) });
    }
  }

  #change(wake: WakeRecord): Change {
    const { ports } = this.#desk;
    const now = ports.clock.now();
    const wakeups = [newDelivery(ports, wake, null)];
    const next = wake.cron === null ? undefined : ports.schedules.next(wake.cron, wake.timezone ?? "UTC", now);
    if (next === undefined) return { endedWakes: [wake], wakeups };
    return { wakes: [{ ...wake, nextAt: next.toISOString(), lastAt: now.toISOString() }], wakeups };
  }
}
