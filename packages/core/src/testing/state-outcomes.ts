import type { Command, SettledState } from "../lifecycle/states.ts";

/** What each command does in each state: how it is decided, or the code of its refusal. Requests that change it are in decide.test.ts. */
export const stateOutcomes: Readonly<Record<Command, Readonly<Record<SettledState, string>>>> = {
  pause: { running: "begin", paused: "sandbox_not_running", stopped: "sandbox_not_running", failed: "sandbox_not_running" },
  resume: { running: "unchanged", paused: "begin", stopped: "sandbox_not_paused", failed: "sandbox_not_paused" },
  fork: { running: "begin", paused: "begin", stopped: "sandbox_not_running", failed: "sandbox_not_running" },
  stop: { running: "begin", paused: "begin", stopped: "unchanged", failed: "begin" },
  start: { running: "unchanged", paused: "sandbox_not_stopped", stopped: "begin", failed: "begin" },
  remove: { running: "sandbox_live", paused: "sandbox_live", stopped: "begin", failed: "begin" },
  snapshot: { running: "begin", paused: "begin", stopped: "sandbox_not_running", failed: "sandbox_not_running" },
  restore: { running: "sandbox_not_paused", paused: "begin", stopped: "begin", failed: "begin" },
  rebase: { running: "sandbox_not_paused", paused: "begin", stopped: "begin", failed: "sandbox_not_paused" },
};

/** What a sandbox is in the middle of a command, after it, and after one that failed. */
export const courseOutcomes: Readonly<Record<Command, { readonly meanwhile: string; readonly success: string; readonly failure: string }>> =
  {
    pause: { meanwhile: "pausing", success: "paused", failure: "running" },
    resume: { meanwhile: "resuming", success: "running", failure: "paused" },
    fork: { meanwhile: "running", success: "running", failure: "running" },
    stop: { meanwhile: "stopping", success: "stopped", failure: "failed" },
    start: { meanwhile: "resuming", success: "running", failure: "stopped" },
    remove: { meanwhile: "removing", success: "gone", failure: "failed" },
    snapshot: { meanwhile: "running", success: "running", failure: "running" },
    restore: { meanwhile: "paused", success: "paused", failure: "paused" },
    rebase: { meanwhile: "stopped", success: "stopped", failure: "stopped" },
  };
