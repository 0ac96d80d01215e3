import { Actor, OperationKind } from "@torpor/contract";
import { type Crosser, type Crossing, crossingMeanings, crossings } from "./lifecycle/crossings.ts";
import { commands } from "./lifecycle/states.ts";
import { meanings, table } from "./markdown.ts";
import { cancelablePhases, variants } from "./operations/procedures.ts";
import { type Proof, type Proofs, proven } from "./proof.ts";

export { renderFailpoints, shimFailpoints } from "./reference-failpoints.ts";
export { renderStates } from "./reference-states.ts";

type Variant = keyof typeof variants;

const crossers: readonly Crosser[] = [...commands, "use"];

/** docs/reference/crossings.md, from the tables that the code uses. */
export function renderCrossings(proofs: Proofs): string {
  return `# Operations and what crosses them

<!-- Made from the tables of packages/core/src/lifecycle by scripts/reference/main.ts. -->

An operation is one change of a sandbox's life. At most one works on a sandbox at a time; the store guarantees it. Each is written down before it
begins, with who asked for it (\`actor\`: ${Actor.options.join(", ")}), and is finished or undone after a kill of the daemon
(\`attempt\` counts): [at every step](failpoints.md). A client that disconnects cancels nothing: \`GET /v1/operations/{id}\` has the outcome, and the
first cause of a failure as \`error\`. What a command does when nothing is at work is in [the table of states](states.md).

## While an operation is at work

Rows: the operation at work. Columns: what is asked meanwhile; *use* is a command or terminal in the sandbox, its files and sessions
(\`packages/core/src/lifecycle/crossings.ts\`). Each cell leads to its test, whose name it shows when it is pointed at.

${table(
  ["at work", ...crossers],
  OperationKind.options.map((kind) => [
    `**${kind}**`,
    ...crossers.map((crosser) => proven(crossings[kind][crosser], proofs.crossing(kind, crosser))),
  ]),
)}

${meanings(crossingMeanings satisfies Record<Crossing, string>)}

Calls that wait do so in the order in which they came; who comes later waits behind them, also if it could join or begin at once. Only a removal
overtakes. A use waits at most 30 s; of a sandbox with \`autoResume\` it waits for a pause too, and then wakes it. A pause by ttl or idleness
is called off by a use, as long as it can be given up. A removal of a live sandbox needs \`force\`, here too.

## Phases, and how long they can be given up

\`POST /v1/operations/{id}/cancel\` undoes an operation in one of its cancelable phases; it then ends as failed with \`operation_cancelled\`. Afterwards it can
only go forward: the answer is \`operation_not_cancelable\`. The operation's field \`cancelable\` says which it is at the moment.

${table(
  ["operation", "phases in order", "cancelable in"],
  (Object.keys(variants) as Variant[]).map((variant) => phasesOf(variant, proofs.phases(variant))),
)}

## The same call twice

Every call that begins an operation takes an \`Idempotency-Key\` of 1 to 255 visible ASCII characters. The key is written down in the same transaction as the
operation's beginning, and counts for 24 hours for the same call of the same sandbox, as it was named in the address. The same key with the same request
(\`wait\` aside) is answered by the same operation, also in parallel, after a restart of the daemon, and when it has failed. With another request it is
\`idempotency_conflict\`. So it is with \`exec\` and the start of a session: the sandbox's own guest remembers them, as long as it keeps the session (while it runs, and among the last 64 that ended), over pauses and
resumes too; after a restart of the daemon another request under the key is known by its command only. A call that was refused has changed nothing and is not remembered: its retry is looked at anew.

Calls that change something without an operation (files, settings, labels, wakes, webhooks, images, ports, signals) take a key too: their answer is stored, and given again for 24 hours; an upload
is known by its content. A wake or webhook is written in one transaction with its key. Of the others the answer is stored when the work is done: if the daemon is killed in
between, the retry does it again. What makes tokens or signs a browser in takes none: those answers hold secrets, which are stored nowhere.

Finished operations and events are kept for 7 days, and at most 1000 of each for a sandbox (\`torpor daemon start --history-days\`, \`--history-limit\`); an
operation that a key answers with stays as long as the key.
`;
}

function phasesOf(variant: Variant, proof: Proof): string[] {
  const cancelable = cancelablePhases(variants[variant]);
  const phases = variants[variant].phases.map((phase) => phase.name);
  const upTo = cancelable.length === phases.length ? "all" : cancelable.join(", ") || "none";
  return [`**${variant}**`, proven(phases.join(" → "), proof), proven(upTo, proof)];
}
