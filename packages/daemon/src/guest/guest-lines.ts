import type { Identity } from "@torpor/core";
import type { CloseReason } from "./guest-error.ts";
import { GuestLine } from "./guest-line.ts";
import type { OnRequest } from "./guest-requests.ts";

interface Held {
  readonly line: GuestLine;
  /** Resolves when the guest knows whom it speaks to. */
  readonly ready: Promise<void>;
}

/** One line a runtime. A line that broke is replaced, and the guest is told again what it was told before. */
export class GuestLines {
  readonly #socketOf: (runtimeId: string) => string;
  readonly #onRequest: OnRequest;
  readonly #held = new Map<string, Held>();

  constructor(socketOf: (runtimeId: string) => string, onRequest: OnRequest) {
    this.#socketOf = socketOf;
    this.#onRequest = onRequest;
  }

  isOpen(runtimeId: string): boolean {
    return this.#held.get(runtimeId)?.line.closed === false;
  }

  async open(runtimeId: string): Promise<GuestLine> {
    let held = this.#held.get(runtimeId);
    if (held === undefined || held.line.closed) {
      const identity = held?.line.identity;
      const line = new GuestLine(this.#socketOf(runtimeId), this.#onRequest);
      held = { line, ready: identity === undefined ? Promise.resolve() : greetAgain(line, identity) };
      this.#held.set(runtimeId, held);
    }
    await held.ready;
    return held.line;
  }

  hold(runtimeId: string, held: boolean): void {
    this.#held.get(runtimeId)?.line.hold(held);
  }

  close(runtimeId: string, reason: CloseReason): void {
    this.#held.get(runtimeId)?.line.close(reason);
    this.#held.delete(runtimeId);
  }
}

async function greetAgain(line: GuestLine, identity: Identity): Promise<void> {
  try {
    await line.hello({ ...identity, origin: "reconnected" });
  } catch (error) {
    line.close("lost"); // the next call opens another
    throw error;
  }
}
