import { TorporError } from "@torpor/contract";
import { lacking, plus } from "./lifecycle/holding.ts";
import { Line } from "./line.ts";
import type { Patience } from "./patience.ts";
import type { Ports } from "./ports/ports.ts";
import type { Share } from "./ports/share.ts";
import type { StoreConflict } from "./ports/store.ts";

const line = "capacity";

/** Those who wait for room on the node, in the order of arrival: a large one is not overtaken for ever by small ones that wait too. */
export class WaitingRoom {
  readonly #line = new Line();
  #changed = Promise.withResolvers<void>();

  /** Something may have been given back. */
  look(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  /** Does the work once there is room for it; the refusal, when the patience ends first. */
  async enter<T>(patience: Patience, work: () => Promise<T>): Promise<T> {
    if (this.#line.isEmpty(line)) {
      const first = await attempt(work);
      if (first !== undefined) return first.done;
    }
    const leave = await this.#line.enter(line, patience);
    if (leave === undefined) return work();
    try {
      for (;;) {
        // Before the look, so that nothing that is given back meanwhile is missed.
        const changed = this.#changed.promise;
        const found = await attempt(work);
        if (found !== undefined) return found.done;
        if (!(await patience.outlasts(changed))) return await work();
      }
    } finally {
      leave();
    }
  }
}

/** undefined: there is no room now, and there may be some later. */
async function attempt<T>(work: () => Promise<T>): Promise<{ readonly done: T } | undefined> {
  try {
    return { done: await work() };
  } catch (error) {
    if (mayPass(error)) return undefined;
    throw error;
  }
}

/** Before something is begun that others would have to be given up for: a fork's freeze. The store decides, child by child. */
export async function requireRoom({ store, node }: Ports, asked: Share): Promise<void> {
  const held = plus(await store.held(), asked);
  if (lacking(held, node.capacity) !== undefined) throw overCapacity(asked, held, node.capacity);
}

/** The refusal of what the store did not take. */
export function refusedBy(conflict: StoreConflict, asked: Share, { node }: Ports): TorporError {
  return overCapacity(asked, conflict.held ?? asked, node.capacity);
}

/** `held`: with what was asked for. */
function overCapacity(asked: Share, held: Share, capacity: Share): TorporError {
  const what = lacking(held, capacity) ?? "memoryBytes";
  const { name, show } = words[what];
  const free = Math.max(0, capacity[what] - (held[what] - asked[what]));
  return new TorporError(
    "capacity_exceeded",
    `not enough ${name}: ${show(asked[what])} asked for, ${show(free)} of the node's ${show(capacity[what])} free`,
    {
      hint: "Pause, stop or remove a sandbox, ask for less, or wait for room with --wait-capacity.",
      details: { resource: name, asked: asked[what], free, capacity: capacity[what] },
    },
  );
}

/** Only what is taken by others can become free. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof TorporError) || error.code !== "capacity_exceeded") return false;
  const { asked, free, capacity } = error.details as Partial<Record<string, number>>;
  return free !== undefined && (asked ?? 0) <= (capacity ?? 0);
}

const bytes = (count: number): string => (count >= 2 ** 30 ? `${round(count / 2 ** 30)} GiB` : `${Math.floor(count / 2 ** 20)} MiB`);
const round = (number: number): number => Math.floor(number * 100) / 100;

const words: Readonly<Record<keyof Share, { readonly name: string; readonly show: (amount: number) => string }>> = {
  memoryBytes: { name: "memory", show: bytes },
  cpus: { name: "CPUs", show: (count) => String(round(count)) },
  diskBytes: { name: "disk", show: bytes },
};
