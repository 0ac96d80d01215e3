import type { SandboxState } from "@torpor/contract";

/** What can be asked of a sandbox that exists. */
export const commands = ["pause", "resume", "fork", "stop", "start", "remove", "snapshot", "restore", "rebase"] as const;
export type Command = (typeof commands)[number];

/** In these nothing is at work; the other states are transitional and belong to a running operation. */
export const settledStates = ["running", "paused", "stopped", "failed"] as const satisfies readonly SandboxState[];
export type SettledState = (typeof settledStates)[number];

/**
 * `begin`: an operation begins. `unchanged`: it is so already, success. `refuse`: an error, nothing changes.
 * `ask`: depends on the request or on what the sandbox has; `decide` says how.
 */
export type Verdict = "begin" | "unchanged" | "refuse" | "ask";

export const verdicts: Readonly<Record<Command, Readonly<Record<SettledState, Verdict>>>> = {
  pause: { running: "begin", paused: "refuse", stopped: "refuse", failed: "refuse" },
  resume: { running: "unchanged", paused: "ask", stopped: "refuse", failed: "ask" },
  fork: { running: "begin", paused: "ask", stopped: "ask", failed: "refuse" },
  stop: { running: "begin", paused: "begin", stopped: "unchanged", failed: "begin" },
  start: { running: "unchanged", paused: "refuse", stopped: "begin", failed: "begin" },
  remove: { running: "ask", paused: "ask", stopped: "begin", failed: "begin" },
  snapshot: { running: "begin", paused: "ask", stopped: "ask", failed: "refuse" },
  restore: { running: "refuse", paused: "begin", stopped: "begin", failed: "begin" },
  rebase: { running: "refuse", paused: "begin", stopped: "begin", failed: "refuse" },
};

/** The state a sandbox shows while a command is at work on it. A fork or snapshot changes nothing on its source; who is restored or rebased stays at rest. */
export const transitionalStates: Readonly<Record<Command, SandboxState | null>> = {
  pause: "pausing",
  resume: "resuming",
  fork: null,
  stop: "stopping",
  start: "resuming",
  remove: "removing",
  snapshot: null,
  restore: null,
  rebase: null,
};

export function isSettled(state: SandboxState): state is SettledState {
  return (settledStates as readonly SandboxState[]).includes(state);
}
