import type { Sandbox } from "@torpor/contract";
import { useState } from "preact/hooks";
import { confirmed } from "../parts/confirm.tsx";
import { showNote } from "../state/toasts.ts";
import { type BulkVerb, doToAll, type Outcome, suits } from "./bulk.ts";

interface BulkBarProps {
  readonly picked: readonly Sandbox[];
  readonly onDone: () => void;
}

const words = {
  pause: { button: "Suspend", done: "suspended", text: "Their memory is saved and released; resume them when you like." },
  resume: { button: "Resume", done: "resumed", text: "Their processes go on where they were." },
  remove: {
    button: "Remove",
    done: "removed",
    text: "Their processes end, and their files and checkpoints are deleted. This can't be taken back.",
  },
} as const;

/** One deed for all that are chosen, and what became of each. */
export function BulkBar({ picked, onDone }: BulkBarProps) {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const [busy, setBusy] = useState(false);
  const run = async (verb: BulkVerb) => {
    const fit = picked.filter((sandbox) => suits(verb, sandbox));
    const { button, text, done } = words[verb];
    const many = `${fit.length} ${fit.length === 1 ? "sandbox" : "sandboxes"}`;
    if (!(await confirmed(`${button} ${many}?`, `${fit.map(({ name }) => name).join(", ")}. ${text}`, `${button} ${many}`))) return;
    setBusy(true);
    const all = new Map<string, Outcome>();
    await doToAll(
      verb,
      fit.map(({ id }) => id),
      (id, outcome) => {
        all.set(id, outcome);
        setOutcomes(new Map(all));
      },
    );
    setBusy(false);
    const failed = [...all.values()].filter(({ kind }) => kind === "failed").length;
    showNote(`${fit.length - failed} of ${fit.length} ${done}`);
    if (failed === 0) onDone();
  };
  return (
    <section class="sheet bulk stack" aria-label="All that are chosen">
      <div class="row">
        <strong>{picked.length} chosen</strong>
        {(Object.keys(words) as BulkVerb[]).map((verb) => (
          <button
            key={verb}
            type="button"
            class={verb === "remove" ? "bad" : ""}
            disabled={busy || !picked.some((sandbox) => suits(verb, sandbox))}
            onClick={() => run(verb)}
          >
            {words[verb].button}
          </button>
        ))}
        <button type="button" class="plain" disabled={busy} onClick={onDone}>
          Choose none
        </button>
      </div>
      <ul>
        {picked.map(({ id, name }) => {
          const outcome = outcomes.get(id);
          return outcome === undefined ? null : (
            <li key={id} class={outcome.kind === "failed" ? "fault" : "small"}>
              {name}: {outcome.kind === "failed" ? outcome.message : outcome.kind === "done" ? "done" : "at work…"}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
