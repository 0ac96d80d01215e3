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
  const holdsMemory = state === "running" || state === "paused";
  return (
    <fieldset class="row bare">
      <legend class="hidden-text">What to do with {sandbox.name}</legend>
      <MainButton sandbox={sandbox} busy={busy} />
      <button type="button" disabled={busy || !holdsMemory} onClick={() => fork(sandbox, session)}>
        Fork
      </button>
      <button type="button" disabled={busy || !holdsMemory} onClick={() => stop(sandbox)}>
        Stop
      </button>
      <button type="button" class="bad" disabled={acting.value.has(sandbox.id)} onClick={() => remove(sandbox)}>
        Remove
      </button>
    </fieldset>
  );
}

/** To sleep, or awake again. */
function MainButton({ sandbox, busy }: { readonly sandbox: Sandbox; readonly busy: boolean }) {
  const [label, kind, run] = mainDeed(sandbox);
  return (
    <button type="button" class={kind} disabled={busy} onClick={() => run(sandbox)}>
      {label}
    </button>
  );
}

function mainDeed({ state }: Sandbox): readonly [label: string, kind: "warm" | "cold", run: (sandbox: Sandbox) => Promise<void>] {
  switch (state) {
    case "paused":
      return ["Resume", "warm", resume];
    case "resuming":
      return ["Resuming…", "warm", resume];
    case "stopped":
    case "failed":
      return ["Start", "warm", start];
    case "pausing":
      return ["Suspending…", "cold", suspend];
    default:
      return ["Suspend", "cold", suspend];
  }
}

async function start(sandbox: Sandbox): Promise<void> {
  await act("start", sandbox.id).catch((error) => showError(error, `Start ${sandbox.name}`));
}
