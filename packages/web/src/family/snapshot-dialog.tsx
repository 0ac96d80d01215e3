import type { Snapshot } from "@torpor/contract";
import { useState } from "preact/hooks";
import { removeSnapshot } from "../api/calls.ts";
import { launch } from "../launch/launch.ts";
import { Dialog } from "../parts/dialog.tsx";
import { NameField } from "../parts/name-field.tsx";
import { describeSnapshot } from "../parts/snapshot.ts";
import { showError } from "../state/toasts.ts";

interface SnapshotDialogProps {
  readonly snapshot: Snapshot;
  readonly onClose: () => void;
}

/** A snapshot whose source is gone, so that no page of a sandbox has it. */
export function SnapshotDialog({ snapshot, onClose }: SnapshotDialogProps) {
  const [name, setName] = useState("");
  const make = (event: Event) => {
    event.preventDefault();
    onClose();
    launch({ snapshot: snapshot.id, ...(name === "" ? {} : { name }) }, "none").catch((error) => showError(error));
  };
  const remove = () => {
    onClose();
    removeSnapshot(snapshot.id).catch((error) => showError(error, `Remove ${snapshot.name}`));
  };
  return (
    <Dialog title={`Snapshot ${snapshot.name}`} onClose={onClose}>
      <p>
        Of {snapshot.source.name}, which is gone: {describeSnapshot(snapshot)}.
      </p>
      <form class="stack" onSubmit={make}>
        <NameField label="Name of a new sandbox from it" name={name} onName={setName} />
        <div class="row">
          <button type="submit" class="fill">
            New sandbox from it
          </button>
          <button type="button" class="bad" disabled={snapshot.pinned} onClick={remove}>
            Remove the snapshot
          </button>
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </form>
    </Dialog>
  );
}
