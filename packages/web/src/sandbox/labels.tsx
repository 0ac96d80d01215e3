import type { Sandbox } from "@torpor/contract";
import { useEffect, useState } from "preact/hooks";
import { updateSandbox } from "../api/calls.ts";
import { putSandbox } from "../state/sandboxes.ts";
import { showError, showNote } from "../state/toasts.ts";
import { changesOf, type LabelRow, objectionTo, rowsOf } from "./label-rows.ts";

export function Labels({ sandbox }: { readonly sandbox: Sandbox }) {
  const { id, name, labels } = sandbox;
  const [before, setBefore] = useState(labels);
  const [rows, setRows] = useState<readonly LabelRow[]>(rowsOf(labels));
  const changes = changesOf(before, rows);
  const isChanged = Object.keys(changes).length > 0;
  const objections = rows.map((_, at) => objectionTo(rows, at));
  const begin = (from: Sandbox["labels"]) => {
    setBefore(from);
    setRows(rowsOf(from));
  };
  const known = JSON.stringify(labels);
  useEffect(() => {
    // What somebody else has changed is shown, unless it would take away what is being written here.
    if (!isChanged) begin(labels);
  }, [known]);
  const put = (at: number, row: LabelRow) => setRows(rows.map((one, i) => (i === at ? row : one)));
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      const changed = await updateSandbox(id, { labels: changes });
      putSandbox(changed);
      begin(changed.labels);
      showNote(`${name} has its new labels`);
    } catch (error) {
      showError(error, `Labels of ${name}`);
    }
  };
  return (
    <form class="sheet stack" onSubmit={save} aria-label="Labels">
      <h2>Labels</h2>
      {rows.length === 0 ? <p class="soft small">It has none. They are what lists, the search and webhooks choose by.</p> : null}
      {rows.map((row, at) => (
        <div key={at} class="label-row">
          <input
            aria-label={`Name of label ${at + 1}`}
            value={row.name}
            aria-invalid={objections[at] !== undefined}
            onInput={({ currentTarget }) => put(at, { ...row, name: currentTarget.value })}
          />
          <input
            aria-label={`Value of ${row.name || `label ${at + 1}`}`}
            value={row.value}
            onInput={({ currentTarget }) => put(at, { ...row, value: currentTarget.value })}
          />
          <button
            type="button"
            class="plain"
            aria-label={`Take ${row.name || `label ${at + 1}`} away`}
            onClick={() => setRows(rows.filter((_, i) => i !== at))}
          >
            ✕
          </button>
          {objections[at] === undefined ? null : <p class="fault">{objections[at]}</p>}
        </div>
      ))}
      <div class="row">
        <button type="submit" class="fill" disabled={!isChanged || objections.some((objection) => objection !== undefined)}>
          Save labels
        </button>
        <button type="button" onClick={() => setRows([...rows, { name: "", value: "" }])}>
          Add a label
        </button>
      </div>
    </form>
  );
}
