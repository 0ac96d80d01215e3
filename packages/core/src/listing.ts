import { type Sandbox, type SandboxState, TorporError } from "@torpor/contract";
import { teamOf } from "./access/teams.ts";
import { holdOf } from "./holds.ts";
import type { Ports } from "./ports/ports.ts";
import type { SandboxRecord } from "./ports/store.ts";
import { sandboxView } from "./views.ts";

export interface ListFilter {
  /** Default: every state. */
  readonly states?: readonly SandboxState[];
  /** All of them have to be there. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: of all. */
  readonly team?: string;
  /** Default: all. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: string;
}

export interface Page {
  readonly sandboxes: Sandbox[];
  readonly next: string | null;
}

/** Oldest first. A page begins behind a place in that order, so that what is made or removed meanwhile moves nothing. */
export async function page(ports: Ports, { states, labels = {}, team, limit, after }: ListFilter): Promise<Page> {
  if (limit === 0)
    throw new TorporError("invalid_request", "a page of 0 sandboxes has no end: ask for 1 or more", { details: { field: "limit" } });
  const [sandboxes, active] = await Promise.all([ports.store.listSandboxes(), ports.store.runningOperations()]);
  const begin = after === undefined ? "" : placeOf(after);
  const wanted = Object.entries(labels);
  const found = sandboxes.filter(
    (sandbox) =>
      place(sandbox) > begin &&
      (team === undefined || teamOf(sandbox) === team) &&
      (states === undefined || states.includes(sandbox.state)) &&
      wanted.every(([name, value]) => sandbox.labels[name] === value),
  );
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const byId = new Map(active.map((record) => [record.id, record]));
  return {
    sandboxes: shown.map((sandbox) =>
      sandboxView(sandbox, sandbox.operationId === null ? undefined : byId.get(sandbox.operationId), holdOf(ports, sandbox)),
    ),
    next: last === undefined || shown.length === found.length ? null : place(last),
  };
}

function place({ createdAt, id }: SandboxRecord): string {
  return `${createdAt}_${id}`;
}

function placeOf(cursor: string): string {
  if (/^[\d:.TZ-]+_sb_\w+$/.test(cursor)) return cursor;
  throw new TorporError("invalid_request", "after is not the next of a page", { details: { field: "after" } });
}
