import { TorporError } from "@torpor/contract";
import { lacking, nothing, plus } from "./lifecycle/holding.ts";
import { beyond } from "./lifecycle/team-limits.ts";
import { Line } from "./line.ts";
import type { Patience } from "./patience.ts";
import type { Ports } from "./ports/ports.ts";
import type { OverLimit, StoreConflict } from "./ports/store.ts";
import type { TeamHolding } from "./ports/team-store.ts";

const node = "node";

/** Those who wait for room on the node, or within their team's limits, in the order of arrival: a large one is not overtaken for ever by small ones that wait too. */
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
    let found: Attempt<T> = this.#line.isEmpty(node) ? await attempt(work) : { line: node };
    while (!("done" in found)) found = await this.#wait(found.line, patience, work);
    return found.done;
  }

  /** In one line, until it is done or another one's room is lacking: who waits for its team is in no other team's way. */
  async #wait<T>(line: string, patience: Patience, work: () => Promise<T>): Promise<Attempt<T>> {
    const leave = await this.#line.enter(line, patience);
    if (leave === undefined) return { done: await work() };
    try {
      for (;;) {
        // Before the look, so that nothing that is given back meanwhile is missed.
        const changed = this.#changed.promise;
        const found = await attempt(work);
        if ("done" in found || found.line !== line) return found;
        if (!(await patience.outlasts(changed))) return { done: await work() };
      }
    } finally {
      leave();
    }
  }
}

/** `line`: there is no room now, and there may be some later, for who waits there. */
type Attempt<T> = { readonly done: T } | { readonly line: string };

async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { done: await work() };
  } catch (error) {
    if (error instanceof TorporError && mayPass(error)) return { line: lineOf(error) };
    throw error;
  }
}

function lineOf({ details: { team } }: TorporError): string {
  return typeof team === "string" ? `team ${team}` : node;
}

/** Before something is begun that others would have to be given up for: a fork's freeze. The store decides, child by child. */
export async function requireRoom({ store, node: { capacity } }: Ports, team: string, asked: TeamHolding): Promise<void> {
  const held = plus(await store.held(), asked);
  const what = lacking(held, capacity);
  if (what !== undefined) throw refusal({ what, asked: asked[what], held: held[what], limit: capacity[what] });
  const record = (await store.listTeams()).find(({ name }) => name === team);
  if (record === undefined) return;
  const own = await store.heldByTeam(team);
  const after = { ...plus(own, asked), sandboxes: own.sandboxes + asked.sandboxes };
  const resource = beyond(after, record, true);
  if (resource !== undefined && asked[resource] > 0) throw overLimit({ team: record, held: after, resource }, asked);
}

/** The refusal of what the store did not take. */
export function refusedBy({ held = nothing, team }: StoreConflict, asked: TeamHolding, { node: { capacity } }: Ports): TorporError {
  if (team !== undefined) return overLimit(team, asked);
  const what = lacking(held, capacity) ?? "memoryBytes";
  return refusal({ what, asked: asked[what], held: held[what], limit: capacity[what] });
}

function overLimit({ team, held, resource }: OverLimit, asked: TeamHolding): TorporError {
  return refusal({ what: resource, asked: asked[resource], held: held[resource], limit: team.limits[resource] ?? 0, team: team.name });
}

interface Lack {
  readonly what: keyof TeamHolding;
  readonly asked: number;
  /** With what was asked for. */
  readonly held: number;
  readonly limit: number;
  /** Whose limit it is; undefined: the node's. */
  readonly team?: string;
}

function refusal({ what, asked, held, limit, team }: Lack): TorporError {
  const { name, show } = words[what];
  const free = Math.max(0, limit - (held - asked));
  const whose = team === undefined ? `the node's ${show(limit)}` : `the ${show(limit)} that team ${team} may have`;
  return new TorporError("capacity_exceeded", `not enough ${name}: ${show(asked)} asked for, ${show(free)} of ${whose} free`, {
    hint: "Pause, stop or remove a sandbox, ask for less, or wait for room with --wait-capacity.",
    details: { resource: name, asked, free, capacity: limit, ...(team === undefined ? {} : { team }) },
  });
}

/** Only what is taken by others can become free. */
function mayPass(error: TorporError): boolean {
  if (error.code !== "capacity_exceeded") return false;
  const { asked, free, capacity } = error.details as Partial<Record<string, number>>;
  return free !== undefined && (asked ?? 0) <= (capacity ?? 0);
}

const bytes = (count: number): string => (count >= 2 ** 30 ? `${round(count / 2 ** 30)} GiB` : `${Math.floor(count / 2 ** 20)} MiB`);
const round = (number: number): number => Math.floor(number * 100) / 100;

const words: Readonly<Record<keyof TeamHolding, { readonly name: string; readonly show: (amount: number) => string }>> = {
  memoryBytes: { name: "memory", show: bytes },
  cpus: { name: "CPUs", show: (count) => String(round(count)) },
  diskBytes: { name: "disk", show: bytes },
  sandboxes: { name: "sandboxes", show: String },
};
