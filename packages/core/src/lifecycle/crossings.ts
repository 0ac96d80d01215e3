import type { OperationKind } from "@torpor/contract";
import type { Command } from "./states.ts";

/** What crosses an operation: a command, or a use of the sandbox (a command or terminal in it, its files, its sessions). */
export type Crosser = Command | "use";

export const crossingMeanings = {
  join: "the operation at work is what was asked for: its outcome is the answer",
  "join if same": "as *join* if it keeps or restores the same (`memory`, `snapshot` or `image` of the request), else as *refuse*",
  wait: "waits for the operation's end and is then looked at as if it came only now; in the order of arrival; no longer than the call's `wait`, then as *refuse*",
  refuse: "409 `operation_active` at once, with the operation and its phase, and `Retry-After`",
  supersede: "the operation at work is told to give up, then the sandbox is removed; one that can only go forward ends first",
  proceed: "goes on as if nothing were at work; the sandbox's state decides",
} as const;

export type Crossing = keyof typeof crossingMeanings;

/**
 * What happens when a call meets an operation at work. The rules behind the cells: the same thing twice happens once. What makes
 * sense after the operation waits for it, since that is what whoever calls without waiting means (P03: a resume right after a
 * pause). What its success would make an error is refused at once. A removal wins over everything.
 */
export const crossings: Readonly<Record<OperationKind, Readonly<Record<Crosser, Crossing>>>> = {
  create: {
    pause: "wait",
    resume: "wait",
    fork: "wait",
    stop: "wait",
    start: "wait",
    remove: "supersede",
    snapshot: "wait",
    restore: "refuse",
    rebase: "refuse",
    use: "wait",
  },
  pause: {
    pause: "join if same",
    resume: "wait",
    fork: "wait",
    stop: "wait",
    start: "refuse",
    remove: "supersede",
    snapshot: "wait",
    restore: "wait",
    rebase: "wait",
    use: "refuse",
  },
  resume: {
    pause: "wait",
    resume: "join if same",
    fork: "wait",
    stop: "wait",
    start: "wait",
    remove: "supersede",
    snapshot: "wait",
    restore: "refuse",
    rebase: "refuse",
    use: "wait",
  },
  fork: {
    pause: "wait",
    resume: "wait",
    fork: "wait",
    stop: "wait",
    start: "wait",
    remove: "supersede",
    snapshot: "wait",
    restore: "wait",
    rebase: "wait",
    use: "proceed",
  },
  stop: {
    pause: "refuse",
    resume: "refuse",
    fork: "refuse",
    stop: "join",
    start: "wait",
    remove: "supersede",
    snapshot: "wait",
    restore: "wait",
    rebase: "wait",
    use: "refuse",
  },
  start: {
    pause: "wait",
    resume: "wait",
    fork: "wait",
    stop: "wait",
    start: "join",
    remove: "supersede",
    snapshot: "wait",
    restore: "refuse",
    rebase: "refuse",
    use: "wait",
  },
  remove: {
    pause: "refuse",
    resume: "refuse",
    fork: "refuse",
    stop: "refuse",
    start: "refuse",
    remove: "join",
    snapshot: "refuse",
    restore: "refuse",
    rebase: "refuse",
    use: "refuse",
  },
  snapshot: {
    pause: "wait",
    resume: "wait",
    fork: "wait",
    stop: "wait",
    start: "wait",
    remove: "supersede",
    snapshot: "wait",
    restore: "wait",
    rebase: "wait",
    use: "proceed",
  },
  restore: {
    pause: "refuse",
    resume: "wait",
    fork: "wait",
    stop: "wait",
    start: "wait",
    remove: "supersede",
    snapshot: "wait",
    restore: "join if same",
    rebase: "wait",
    use: "refuse",
  },
  rebase: {
    pause: "refuse",
    resume: "wait",
    fork: "wait",
    stop: "wait",
    start: "wait",
    remove: "supersede",
    snapshot: "wait",
    restore: "wait",
    rebase: "join if same",
    use: "refuse",
  },
};
