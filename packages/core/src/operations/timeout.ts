import { runsFrom } from "../time/instants.ts";
import type { Failing, Outcome, Work } from "./procedure.ts";

/** Why an ending that nobody asked for came: `ttl`, `hardTtl` or `idle`; or the budget of its team, as it stood. */
export function timeoutOf({ operation }: Work): { readonly timeout?: unknown; readonly budget?: unknown } {
  const { timeout, budget } = operation.request;
  return { ...(timeout === undefined ? {} : { timeout }), ...(budget === undefined ? {} : { budget }) };
}

/** A pause that nobody asked for was called off by a use of the sandbox: its time begins anew, as it would have with a resume. */
export function calledOff<T extends Pick<Outcome, "sandbox" | "events">>(work: Work, { error, superseded }: Failing, outcome: T): T {
  const { sandbox } = outcome;
  const runsOn = sandbox !== "removed" && sandbox.state === "running";
  if (work.operation.request.timeout === undefined || error.code !== "operation_cancelled" || superseded || !runsOn) return outcome;
  return { ...outcome, sandbox: { ...sandbox, ...runsFrom(work.sandbox, work.ports.clock.now()) } };
}
