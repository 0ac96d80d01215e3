import { TorporError } from "@torpor/contract";
import type { Desk } from "../desk.ts";
import { describeError } from "../failure.ts";
import { type GuestUse, useGuest } from "../guest-use.ts";
import type { PlacedWakeup, WakeupRecord } from "../ports/wake-store.ts";
import { Backoff } from "../time/backoff.ts";
import { Timers } from "../time/timers.ts";
import { latenessOf } from "./new-delivery.ts";
import { prepare, publish, runHooks } from "./queue.ts";

/** So long a delivery waits for its sandbox to be resumed, before it is looked at anew. */
const waitMs = 600_000;

/**
 * Brings what is stored into the sandboxes' queues, each sandbox's in order. Each stage is written down before the next, so after a kill it goes on from the
 * stage that it was in, and each delivery appears once. A sandbox that can't be resumed is tried again, after 1 s, 2 s and so on up to a minute.
 */
export class Courier {
  readonly #desk: Desk;
  readonly #timers: Timers;
  readonly #backoff = new Backoff();
  /** Sandboxes that something is stored for, as far as is known here. */
  readonly #waited = new Set<string>();

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#timers = new Timers(desk.ports.clock, (sandboxId) => this.#deliver(sandboxId));
  }

  async open(): Promise<void> {
    for (const sandboxId of (await this.#desk.ports.store.countWakeups()).keys()) this.call(sandboxId);
  }

  close(): Promise<void> {
    return this.#timers.close();
  }

  /** Something is stored for it. */
  call(sandboxId: string): void {
    this.#waited.add(sandboxId);
    this.#timers.set(sandboxId, this.#desk.ports.clock.now().getTime());
  }

  /** It runs, whoever started it. */
  runs(sandboxId: string): void {
    if (this.#waited.has(sandboxId)) this.call(sandboxId);
  }

  forget(sandboxId: string): void {
    this.#timers.clear(sandboxId);
    this.#waited.delete(sandboxId);
    this.#backoff.clear(sandboxId);
  }

  async #deliver(sandboxId: string): Promise<void> {
    const { store, log, clock } = this.#desk.ports;
    try {
      for (;;) {
        const next = await store.nextWakeup(sandboxId);
        if (next === undefined) break;
        await this.#bring(next);
      }
      this.#backoff.clear(sandboxId);
      // Whatever came after the last look has called again.
      this.#waited.delete(sandboxId);
    } catch (error) {
      // A stopped one is not started by a wake: it is told when it runs.
      if (error instanceof TorporError && error.code === "sandbox_not_running") return;
      const pauseMs = this.#backoff.next(sandboxId);
      this.#timers.set(sandboxId, clock.now().getTime() + pauseMs);
      log.error("a wake could not be delivered: it is tried again", {
        sandbox: sandboxId,
        againInMs: pauseMs,
        cause: describeError(error),
      });
    }
  }

  async #bring(delivery: PlacedWakeup): Promise<void> {
    const { ports } = this.#desk;
    const guest = await useGuest(this.#desk, delivery.sandboxId, { waitMs, actor: "wake" });
    const published = await this.#show(guest, delivery);
    await runHooks(guest, published, ports.ids);
    const { wake, sandboxId, seq } = published;
    const data = { wake: wake.id, kind: wake.kind, label: wake.label, seq, ...latenessOf(published) };
    const event = { sandboxId, operationId: null, type: "sandbox.woken", data, at: ports.clock.now().toISOString() };
    await ports.store.commit({ endedWakeups: [recordOf(published)], events: [event] });
  }

  async #show(guest: GuestUse, delivery: PlacedWakeup): Promise<PlacedWakeup> {
    let at = delivery;
    if (at.stage === "stored") {
      await prepare(guest, at);
      at = await this.#reach(at, "prepared");
    }
    if (at.stage === "prepared") {
      await publish(guest, at);
      at = await this.#reach(at, "published");
    }
    return at;
  }

  async #reach(delivery: PlacedWakeup, stage: WakeupRecord["stage"]): Promise<PlacedWakeup> {
    const next = { ...delivery, stage };
    await this.#desk.ports.store.commit({ wakeups: [recordOf(next)] });
    return { ...next, version: next.version + 1 };
  }
}

function recordOf({ seq: _seq, ...record }: PlacedWakeup): WakeupRecord {
  return record;
}
