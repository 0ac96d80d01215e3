import type { Event, Operation } from "@torpor/contract";

/** What happened to a sandbox: an operation with the events that it ended in, or an event of its own. */
export type Moment =
  | { readonly at: string; readonly operation: Operation; readonly events: readonly Event[] }
  | { readonly at: string; readonly event: Event };

/** Newest first. */
export function momentsOf(operations: readonly Operation[], events: readonly Event[]): Moment[] {
  const known = new Set(operations.map(({ id }) => id));
  const moments: Moment[] = operations.map((operation) => ({
    at: operation.startedAt,
    operation,
    events: events.filter(({ operationId }) => operationId === operation.id),
  }));
  for (const event of events) {
    if (event.operationId === null || !known.has(event.operationId)) moments.push({ at: event.at, event });
  }
  return moments.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
}

/** How long each phase took, in the order in which they ran. */
export function phasesOf({ result }: Operation): [name: string, ms: number][] {
  const phases = result.phases;
  if (typeof phases !== "object" || phases === null) return [];
  return Object.entries(phases).flatMap(([name, ms]) => (typeof ms === "number" ? [[name, ms] as [string, number]] : []));
}
