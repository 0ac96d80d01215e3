import type { Session, SessionEnd, Supervision } from "@torpor/contract";
import { formatSpan } from "../format/duration.ts";

export type Deed = "start" | "stop" | "restart" | "remove";

/** What can be done to a session as it is. One that is not supervised ends once. */
export function deedsOf({ supervision }: Session): readonly Deed[] {
  switch (supervision?.state) {
    case undefined:
      return ["remove"];
    case "starting":
    case "ready":
      return ["stop", "restart", "remove"];
    case "backoff":
      return ["start", "stop", "remove"];
    case "stopped":
    case "failed":
      return ["start", "remove"];
  }
}

/** It is about to be in another state, and nobody tells of that. */
export const isPassing = ({ supervision }: Session): boolean => supervision?.state === "starting" || supervision?.state === "backoff";

/** Whether a removal would end something. */
export function isAtWork({ supervision, end }: Session): boolean {
  return supervision === undefined ? end === null : supervision.state !== "stopped" && supervision.state !== "failed";
}

export function stateOf({ supervision, end }: Session): string {
  return supervision?.state ?? (end === null ? "running" : endOf(end));
}

/** How it is kept running, in words. */
export function factsOf({ supervision, pid }: Session, nowMs: number): string[] {
  if (supervision === undefined) return [];
  const { desired, state, attempt, restarts, nextAt, lastEnd, policy } = supervision;
  const runs = state === "starting" || state === "ready";
  return [
    `is to be ${desired}`,
    attempt === 0 ? "no process yet" : runs ? `process ${attempt}, pid ${pid}` : `${attempt} so far`,
    restartsOf(restarts, policy),
    readinessOf(supervision),
    ...(nextAt === null ? [] : [`begins again in ${formatSpan(Math.max(0, Date.parse(nextAt) - nowMs))}`]),
    ...(lastEnd === null ? [] : [`last end: ${endOf(lastEnd)}`]),
  ];
}

function restartsOf(count: number, { maxRestarts, windowMs }: Supervision["policy"]): string {
  const bound = maxRestarts === undefined || windowMs === undefined ? "" : ` of at most ${maxRestarts} within ${formatSpan(windowMs)}`;
  return `${count} ${count === 1 ? "restart" : "restarts"}${bound}`;
}

function readinessOf({ policy: { readiness }, state }: Supervision): string {
  if (readiness === undefined) return "no check whether it is ready";
  const check = readiness.port === undefined ? `${readiness.argv?.join(" ") ?? "its check"} succeeds` : `port ${readiness.port} is open`;
  return state === "ready" ? `ready, since ${check}` : `ready once ${check}`;
}

function endOf({ reason, exitCode, signal }: SessionEnd): string {
  if (reason !== "exited") return reason;
  return signal === null ? `exit code ${exitCode ?? "unknown"}` : `signal ${signal}`;
}
