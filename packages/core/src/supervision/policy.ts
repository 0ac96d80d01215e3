import type { SessionEnd, Supervise } from "@torpor/contract";
import type { SupervisedRecord, SupervisionPolicy } from "../ports/supervised-store.ts";

/** What is seen of the session in the sandbox's present runtime. */
export interface Seen {
  readonly runtimeId: string;
  /** `none`: this runtime has not begun a process of it. */
  readonly process: "none" | "running" | "ended";
  /** Of the process, if there is one. */
  readonly attempt: number;
  readonly end: SessionEnd | null;
}

/** The next thing to do. After a change of the record one looks again. */
export type Step =
  | { readonly kind: "rest" }
  /** Its process runs, as it should. */
  | { readonly kind: "watch" }
  | { readonly kind: "start"; readonly attempt: number }
  | { readonly kind: "stop" }
  | { readonly kind: "wait"; readonly untilMs: number }
  | { readonly kind: "change"; readonly record: SupervisedRecord };

const longestBackoffMs = 60_000;

export function policyOf(asked: Supervise): SupervisionPolicy {
  const defaults: SupervisionPolicy = {
    restart: "on-failure",
    maxRestarts: 5,
    windowMs: 60_000,
    backoffMs: 1000,
    runtimeRecovery: "restart",
    stopOrder: 0,
    stopGraceMs: 10_000,
  };
  return { ...defaults, ...(asked as Partial<SupervisionPolicy>) };
}

/** Decides from what is wanted, what was, and what is. Nothing is done here. */
export function nextStep(record: SupervisedRecord, seen: Seen, nowMs: number): Step {
  if (seen.process === "running") return whileRunning(record, seen);
  if (seen.process === "ended" && seen.end !== null && seen.attempt > record.judged) {
    return { kind: "change", record: judged(record, seen.attempt, seen.end, nowMs) };
  }
  if (record.desired === "stopped") return record.state === "failed" ? { kind: "rest" } : settled(record, "stopped");
  if (record.state === "failed") return { kind: "rest" };
  if (lostItsRuntime(record, seen) && record.policy.runtimeRecovery === "stop") {
    return { kind: "change", record: { ...record, desired: "stopped", state: "stopped", reason: "the sandbox's memory was not kept" } };
  }
  const nextAtMs = record.nextAt === null ? 0 : Date.parse(record.nextAt);
  if (record.state === "backoff" && nextAtMs > nowMs) return { kind: "wait", untilMs: nextAtMs };
  return { kind: "start", attempt: Math.max(record.attempt, seen.attempt) + 1 };
}

/** What follows from the end of a process. */
export function judged(record: SupervisedRecord, attempt: number, end: SessionEnd, nowMs: number): SupervisedRecord {
  const known = { ...record, judged: attempt, attempt: Math.max(attempt, record.attempt), lastEnd: end, nextAt: null, reason: null };
  if (record.desired === "stopped") return { ...known, state: "stopped" };
  // Of a sandbox that is being stopped: the next process is that of its next runtime.
  if (attempt <= record.replaced || end.reason === "stopped") return { ...known, state: "starting" };
  const { restart, maxRestarts, windowMs, backoffMs } = record.policy;
  const succeeded = end.reason === "exited" && end.exitCode === 0;
  if (restart === "never" || (restart === "on-failure" && succeeded)) {
    return succeeded ? { ...known, desired: "stopped", state: "stopped" } : { ...known, state: "failed", reason: textOf(end) };
  }
  const recent = record.restartedAt.filter((at) => Date.parse(at) > nowMs - windowMs);
  if (recent.length >= maxRestarts) {
    const reason = `${textOf(end)}, after ${recent.length} restarts within ${windowMs / 1000} s`;
    return { ...known, state: "failed", reason, restartedAt: recent };
  }
  const pauseMs = Math.min(backoffMs * 2 ** recent.length, longestBackoffMs);
  return {
    ...known,
    state: "backoff",
    reason: textOf(end),
    restartedAt: [...recent, new Date(nowMs).toISOString()],
    nextAt: new Date(nowMs + pauseMs).toISOString(),
  };
}

function whileRunning(record: SupervisedRecord, seen: Seen): Step {
  if (record.desired === "stopped" || seen.attempt <= record.replaced) return { kind: "stop" };
  const known = record.attempt === seen.attempt && record.runtimeId === seen.runtimeId;
  if (known && (record.state === "ready" || record.state === "starting")) return { kind: "watch" };
  // Its memory was kept, or a daemon was killed before it could write down what it had begun: the same process goes on.
  const state = known || record.attempt !== seen.attempt || record.state !== "ready" ? "starting" : "ready";
  return { kind: "change", record: { ...record, attempt: seen.attempt, runtimeId: seen.runtimeId, state, nextAt: null, reason: null } };
}

function lostItsRuntime({ runtimeId, attempt }: SupervisedRecord, seen: Seen): boolean {
  return seen.process === "none" && attempt > 0 && runtimeId !== seen.runtimeId;
}

function settled(record: SupervisedRecord, state: "stopped"): Step {
  return record.state === state ? { kind: "rest" } : { kind: "change", record: { ...record, state, nextAt: null } };
}

function textOf({ reason, exitCode, signal }: SessionEnd): string {
  if (reason === "timeout") return "it ran into its time limit";
  if (reason === "oom") return "it was killed: out of memory";
  return signal === null ? `it ended with code ${exitCode}` : `it was ended by ${signal}`;
}
