import type { Sandbox } from "@torpor/contract";
import { act, acting } from "../state/act.ts";
import { isSettled } from "../state/sandboxes.ts";
import { showError } from "../state/toasts.ts";
import { resume } from "../terminal/asleep.tsx";
import { fork, remove, stop, suspend } from "./deeds.ts";

interface ActionsProps {
  readonly sandbox: Sandbox;
  readonly session: string | undefined;
}

/** What can be done to a sandbox in its state. */
export function Actions({ sandbox, session }: ActionsProps) {
  const busy = acting.value.has(sandbox.id) || !isSettled(sandbox);
  const { state } = sandbox;
  const canFork = state === "running" || state === "paused";
  return (
    <div class="row" role="group" aria-label={`What to do with ${sandbox.name}`}>
      {state === "paused" || state === "resuming" ? (
        <button type="button" class="warm" disabled={busy} onClick={() => resume(sandbox)}>
          {state === "resuming" ? "Resuming…" : "Resume"}
        </button>
      ) : state === "stopped" || state === "failed" ? (
        <button type="button" class="warm" disabled={busy} onClick={() => start(sandbox)}>
          Start
        </button>
      ) : (
        <button type="button" class="cold" disabled={busy} onClick={() => suspend(sandbox)}>
          {state === "pausing" ? "Suspending…" : "Suspend"}
        </button>
      )}
      <button type="button" disabled={busy || !canFork} onClick={() => fork(sandbox, session)}>
        Fork
      </button>
      <button type="button" disabled={busy || !canFork} onClick={() => stop(sandbox)}>
        Stop
      </button>
      <button type="button" class="bad" disabled={acting.value.has(sandbox.id)} onClick={() => remove(sandbox)}>
        Remove
      </button>
    </div>
  );
}

function start(sandbox: Sandbox): void {
  act("start", sandbox.id).catch((error) => showError(error, `Start ${sandbox.name}`));
}
