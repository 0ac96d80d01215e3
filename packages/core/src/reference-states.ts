import type { SandboxState } from "@torpor/contract";
import { type Command, commands, settledStates, transitionalStates, type Verdict, verdicts } from "./lifecycle/states.ts";
import { meanings, table } from "./markdown.ts";
import { type FailpointEntry, failpoints } from "./operations/failpoints.ts";
import { type Proof, type Proofs, proven } from "./proof.ts";

const stateMeanings: Readonly<Record<SandboxState, string>> = {
  creating: "its disk is made and it boots for the first time",
  running: "it has a runtime, which answers",
  pausing: "what it has in memory is written down, or its processes end (`memory: false`); it may still come back as *running*",
  paused: "no runtime, no memory, no CPU: a disk, and a checkpoint unless it was paused with files only",
  resuming: "a new runtime is made, from its checkpoint or fresh from its disk",
  stopping: "its processes end, or its runtime ended by itself and what it held is freed",
  stopped:
    "a disk and nothing else: it ended as it was told, its first process ended with success, or the host was started anew (`failure` says so then)",
  failed:
    "its runtime ended badly, or an operation could be neither finished nor undone; `failure` has the cause. The disk is there, and what memory was kept",
  removing: "everything of it is freed",
};

const verdictMeanings: Readonly<Record<Verdict, string>> = {
  begin: "an operation begins",
  unchanged: "it is so already: success, with `result.unchanged`",
  refuse: "refused with an error that names the state and the next step",
  ask: "depends on the request, or on what was kept: `remove` of a live one needs `force`, `resume`, `fork` and `snapshot` need memory or `memory: false`",
};

/** Where a failure does not lead back to what was before. */
const failedStates: Readonly<Partial<Record<Command, string>>> = { pause: "running", stop: "failed", remove: "failed" };

/** After the state that a failure leads to. */
const afterFailures: Readonly<Record<Command, string>> = {
  pause: `; ${whenItEnds("pause")}; ${proven("failed", {
    file: "operations/pause.test.ts",
    test: "whose runtime can't be freed at all keeps its memory: the resume frees it first",
  })} if the old runtime can't be freed (its memory is kept)`,
  resume: ", with `failure`; its checkpoint is kept",
  fork: `; ${proven("children that failed are gone, those that did not stay", {
    file: "operations/fork.test.ts",
    test: "F06: each child succeeds or fails by itself, and nothing is left of the failed one",
  })}`,
  stop: "",
  start: ", with `failure`",
  remove: "; a removal can be asked for again",
  snapshot: `; ${whenItEnds("snapshot")}. Nothing is kept`,
  restore: `, ${proven("with all that it had", {
    file: "operations/restore.test.ts",
    test: "that fails keeps the files and the memory that there were",
  })}`,
  rebase: ", over the image that it had",
};

/** docs/reference/states.md, from the tables that the code uses. */
export function renderStates(proofs: Proofs): string {
  return `# States of a sandbox

<!-- Made from the tables of packages/core/src/lifecycle by scripts/reference/main.ts. -->

In *${settledStates.join("*, *")}* nothing is at work. The others are shown while [an operation](crossings.md) is, with its id and phase as \`operation\`. A sandbox is
not shown as *paused*, *stopped* or gone before its old runtime is.

${meanings(stateMeanings)}

## At rest

What a command does to a sandbox on which nothing is at work (\`packages/core/src/lifecycle/states.ts\`). Each cell leads to its test, whose name it shows when it is pointed at.

${table(
  ["command", ...settledStates],
  commands.map((command) => [
    `**${command}**`,
    ...settledStates.map((state) => proven(verdicts[command][state], proofs.rest(command, state))),
  ]),
)}

${meanings(verdictMeanings)}

## From state to state

${table(
  ["command", "shows meanwhile", "after success", "after a failure"],
  commands.map((command) => [
    `**${command}**`,
    proven(transitionalStates[command] ?? "as before", proofs.course(command, "meanwhile")),
    proven(endOf(command), proofs.course(command, "success")),
    `${proven(failedStates[command] ?? "as before", proofs.course(command, "failure"))}${afterFailures[command]}`,
  ]),
)}

A runtime that ends by itself is an operation \`stop\` of the actor \`engine\`: *stopping*, then *stopped* if its first process ended with 0 or nothing of the runtime is left, as after a reboot, else *failed*.
It is started anew only if it was made with a \`restart\` policy that says so. [The table of failures](failures.md) has what else can happen.
`;
}

function endOf(command: Command): string {
  const entry = failpoints.find(({ name }) => name === `${command}.ended`) as FailpointEntry;
  const [state] = entry.allowed;
  return state === "absent" ? "gone" : state === entry.from ? "as before" : String(state);
}

function whenItEnds(command: Command): string {
  const proof = (end: string): Proof => ({ file: "lifecycle/courses.test.ts", test: `${command} whose runtime ends meanwhile (${end}` });
  return `${proven("stopped", proof("exited, 0): stopped"))} or ${proven("failed", proof("killed, 137): failed"))} if its runtime ended meanwhile`;
}
