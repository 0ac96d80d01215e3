import type { Waiting, WaitingForEnd, WaitingForRoom, WaitingForRoomAndEnd } from "./call-options.ts";
import { type NamesOf, refuseUnknown } from "./refuse-unknown.ts";

export const endNames: NamesOf<WaitingForEnd> = { timeoutMs: true, signal: true, onProgress: true };
export const waitingNames: NamesOf<Waiting> = { ...endNames, waitMs: true };
export const roomNames: NamesOf<WaitingForRoom> = { ...waitingNames, waitCapacityMs: true };
export const roomAndEndNames: NamesOf<WaitingForRoomAndEnd> = { ...endNames, waitCapacityMs: true };

/** Takes options apart into what goes to the daemon and how its answer is waited for. What is neither is refused. */
export function apart<B extends object>(
  options: B & WaitingForRoom,
  names: NamesOf<B>,
  waiting: NamesOf<WaitingForEnd> = waitingNames,
): [B, WaitingForRoom] {
  const known: Readonly<Record<string, true>> = { ...names, ...waiting };
  refuseUnknown(options as object, known);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const of = (part: object) => Object.fromEntries(given.filter(([key]) => Object.hasOwn(part, key)));
  return [of(names) as B, of(waiting)];
}

/** How long a call waits that changes a record and begins no operation. */
export function waitOf(waiting: Waiting): { readonly wait: number | undefined } {
  refuseUnknown(waiting, waitingNames);
  return { wait: waiting.waitMs };
}
