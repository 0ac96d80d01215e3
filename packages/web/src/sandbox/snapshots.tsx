import type { CreateSnapshotRequest, Sandbox, Snapshot } from "@torpor/contract";
import { useCallback, useEffect, useState } from "preact/hooks";
import { listSnapshots, removeSnapshot } from "../api/calls.ts";
import { launch } from "../launch/launch.ts";
import { confirmed } from "../parts/confirm.tsx";
import { describeSnapshot } from "../parts/snapshot.ts";
import { act, acting } from "../state/act.ts";
import { onEvent } from "../state/live.ts";
import { showError, showNote } from "../state/toasts.ts";
import { NameDialog } from "./name-dialog.tsx";

export function Snapshots({ sandbox }: { readonly sandbox: Sandbox }) {
  const { id } = sandbox;
  const [snapshots, setSnapshots] = useState<readonly Snapshot[] | undefined>(undefined);
  const [asking, setAsking] = useState<"snapshot" | Snapshot | undefined>(undefined);
  const [memory, setMemory] = useState(true);
  const load = useCallback(
    () =>
      listSnapshots().then(
        (all) => setSnapshots(all.filter(({ source, id: one }) => source.id === id || one === sandbox.snapshotId)),
        (error) => showError(error, "List the snapshots"),
      ),
    [id, sandbox.snapshotId],
  );
  useEffect(() => {
    void load();
    return onEvent((about) => {
      if (about === id) void load();
    });
  }, [load, id]);
  const canKeep = sandbox.state !== "failed" && !acting.value.has(id);
  const canRestore = (sandbox.state === "paused" || sandbox.state === "stopped") && !acting.value.has(id);
  const keep = (name: string) => {
    setAsking(undefined);
    const wanted: CreateSnapshotRequest = { ...(name === "" ? {} : { name }), memory: memory && sandbox.state !== "stopped" };
    act("snapshots", id, wanted).then(load, (error) => showError(error, `Snapshot of ${sandbox.name}`));
  };
  const restore = async (snapshot: Snapshot) => {
    const text = `${sandbox.name} goes back to ${snapshot.name}. What it has now, files and memory, is given up.`;
    if (!(await confirmed("Go back to the snapshot?", text, "Go back"))) return;
    act("restore", id, { snapshot: snapshot.id }).then(
      () => showNote(`${sandbox.name} is as in ${snapshot.name}`),
      (error) => showError(error, `Restore ${sandbox.name}`),
    );
  };
  const remove = async (snapshot: Snapshot) => {
    if (!(await confirmed(`Remove ${snapshot.name}?`, "What was made from it stays as it is.", "Remove"))) return;
    removeSnapshot(snapshot.id).then(load, (error) => showError(error, `Remove ${snapshot.name}`));
  };
  return (
    <div class="stack">
      <div class="row">
        <button type="button" class="fill" disabled={!canKeep} onClick={() => setAsking("snapshot")}>
          Take a snapshot
        </button>
        <label class="check">
          <input type="checkbox" checked={memory} onChange={(event) => setMemory(event.currentTarget.checked)} />
          with its memory and processes
        </label>
      </div>
      {snapshots?.length === 0 ? (
        <div class="empty">
          <h2>No snapshot yet</h2>
          <p>A snapshot keeps this instant under a name. Go back to it, or make new sandboxes from it, as often as you like.</p>
        </div>
      ) : (
        <ul class="stack">
          {snapshots?.map((snapshot) => (
            <li key={snapshot.id} class="sheet row apart">
              <div>
                <h2>{snapshot.name}</h2>
                <p class="soft small">{describeSnapshot(snapshot)}</p>
                {snapshot.failure === null ? null : <p class="fault">{snapshot.failure.message}</p>}
              </div>
              <div class="row">
                <button
                  type="button"
                  disabled={!canRestore}
                  title={canRestore ? "" : "Suspend or stop the sandbox first"}
                  onClick={() => restore(snapshot)}
                >
                  Go back to it
                </button>
                <button type="button" onClick={() => setAsking(snapshot)}>
                  New sandbox from it
                </button>
                <button type="button" class="bad" disabled={snapshot.pinned} onClick={() => remove(snapshot)}>
                  Remove
                </button>
              </div>
            </li>
          ))}
        </ul>
      )}
      {asking === "snapshot" ? (
        <NameDialog title="Take a snapshot" action="Take it" optional onName={keep} onClose={() => setAsking(undefined)} />
      ) : asking === undefined ? null : (
        <NameDialog
          title={`New sandbox from ${asking.name}`}
          action="Make it"
          optional
          onClose={() => setAsking(undefined)}
          onName={(name) => {
            launch({ snapshot: asking.id, ...(name === "" ? {} : { name }) }, "none").catch((error) => showError(error));
            setAsking(undefined);
          }}
        />
      )}
    </div>
  );
}
