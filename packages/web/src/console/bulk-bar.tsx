import type { Sandbox } from "@torpor/contract";
import { useState } from "preact/hooks";
import { confirmed } from "../parts/confirm.tsx";
import { showNote } from "../state/toasts.ts";
import { type BulkVerb, doToAll, type Outcome, suits, tellOutcome } from "./bulk.ts";

interface BulkBarProps {
  readonly picked: readonly Sandbox[];
  readonly onDone: () => void;
}

const words = {
  pause: { button: "Suspend", done: "suspended", kind: "keeps", text: "Their memory is saved and released; resume them when you like." },
  resume: { button: "Resume", done: "resumed", kind: "keeps", text: "Their processes go on where they were." },
  remove: {
    button: "Remove",
    done: "removed",
    kind: "loses",
    text: "Their processes end, and their files and checkpoints are deleted. This can't be taken back.",
  },
} as const;

/** One deed for all that are chosen, and what became of each. */
export function BulkBar({ picked, onDone }: BulkBarProps) {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const [busy, setBusy] = useState(false);
  const run = async (verb: BulkVerb) => {
    const fit = picked.filter((sandbox) => suits(verb, sandbox));
    const { button, text, done, kind } = words[verb];
    const many = `${fit.length} ${fit.length === 1 ? "sandbox" : "sandboxes"}`;
    if (!(await confirmed(`${button} ${many}?`, `${fit.map(({ name }) => name).join(", ")}. ${text}`, `${button} ${many}`, kind))) return;
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
    const failed = [...all.values()].filter((outcome) => outcome.kind === "failed").length;
    showNote(`${fit.length - failed} of ${fit.length} ${done}`);
    // What has something to tell stays in sight.
    if ([...all.values()].every((outcome) => outcome.kind === "done" && outcome.remark === undefined)) onDone();
  };
  const told = picked.flatMap(({ id, name }) => {
    const outcome = outcomes.get(id);
    return outcome === undefined ? [] : [{ id, name, outcome }];
  });
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
      {told.length === 0 ? null : (
        <ul>
          {told.map(({ id, name, outcome }) => (
            <li key={id} class={outcome.kind === "failed" ? "fault" : "small"}>
              {name}: {tellOutcome(outcome)}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
