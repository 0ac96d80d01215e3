import type { Operation, Sandbox } from "@torpor/contract";
import { useEffect, useState } from "preact/hooks";
import { listOperations } from "../api/calls.ts";
import { formatBytes } from "../format/bytes.ts";
import { formatClock } from "../format/duration.ts";
import { act, acting, freshStart, released } from "../state/act.ts";
import { now } from "../state/now.ts";
import { showError, showNote } from "../state/toasts.ts";

/** What lies over a terminal whose sandbox sleeps: what that costs, for how long it has, and the way back. */
export function Asleep({ sandbox }: { readonly sandbox: Sandbox }) {
  const releasedBytes = useReleased(sandbox);
  const busy = acting.value.has(sandbox.id);
  const since = sandbox.pausedAt === null ? undefined : now.value - Date.parse(sandbox.pausedAt);
  return (
    <section class="card" aria-label={`${sandbox.name} sleeps`}>
      <h2>Nothing is running</h2>
      {since === undefined ? null : (
        <p class="clock" role="timer" aria-label="Time since it was suspended">
          {formatClock(since)}
        </p>
      )}
      <p class="soft">
        {sandbox.checkpoint === null
          ? "Its processes have ended; its files are as they were. Resume boots it fresh from them."
          : "Its processes are where they were, in a file. They hold no CPU and no memory."}
      </p>
      <dl>
        {releasedBytes === undefined ? null : (
          <div>
            <dt>Memory released</dt>
            <dd>{formatBytes(releasedBytes)}</dd>
          </div>
        )}
        {sandbox.checkpoint === null ? null : (
          <div>
            <dt>Checkpoint</dt>
            <dd>{formatBytes(sandbox.checkpoint.storedBytes)}</dd>
          </div>
        )}
      </dl>
      <button type="button" class="warm big" disabled={busy} onClick={() => resume(sandbox)}>
        {busy ? "Resuming…" : "Resume"}
      </button>
    </section>
  );
}

export async function resume(sandbox: Sandbox): Promise<void> {
  try {
    const { operation } = await act("resume", sandbox.id);
    const reason = freshStart(operation);
    if (reason !== undefined) showNote(`${sandbox.name} started fresh from its files`, reason);
  } catch (error) {
    showError(error, `Resume ${sandbox.name}`);
  }
}

/** Memory that the last pause freed: its operation has it as long as that is kept. */
function useReleased({ id, state, checkpoint }: Sandbox): number | undefined {
  const [found, setFound] = useState<number | undefined>(undefined);
  useEffect(() => {
    if (state !== "paused") return;
    let gone = false;
    listOperations(id).then(
      (operations) => {
        if (!gone) setFound(releasedBy(operations));
      },
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [id, state, checkpoint?.id]);
  return found ?? released.value.get(id);
}

export function releasedBy(operations: readonly Operation[]): number | undefined {
  const pause = operations.find(({ kind, status }) => kind === "pause" && status === "succeeded");
  const bytes = pause?.result.releasedBytes;
  return typeof bytes === "number" && bytes > 0 ? bytes : undefined;
}
