import type { SandboxState } from "@torpor/contract";
import type { Phase } from "./procedure.ts";
import { variants } from "./procedures.ts";

type Resting = Extract<SandboxState, "running" | "paused" | "stopped" | "failed"> | "absent";
type Variant = keyof typeof variants;

/** A step at which a daemon may be killed, and what the next daemon has made of the operation before it listens. */
export interface FailpointEntry {
  readonly operation: Variant;
  /** As `Ports.failpoint` is called with it. */
  readonly name: string;
  readonly when: string;
  /** It is reached only when the operation fails. */
  readonly failing: boolean;
  /** The sandbox before the operation. */
  readonly from: Resting;
  readonly allowed: readonly Resting[];
  /** intact: the same processes go on, now or after a resume; fresh: a boot; ended: none. */
  readonly processes: "intact" | "fresh" | "ended";
}

/** What each operation begins with and makes of it. */
const courses: Readonly<Record<Variant, Pick<FailpointEntry, "from" | "processes"> & { readonly done: Resting }>> = {
  create: { from: "absent", done: "running", processes: "fresh" },
  pause: { from: "running", done: "paused", processes: "intact" },
  "pause, files only": { from: "running", done: "paused", processes: "ended" },
  resume: { from: "paused", done: "running", processes: "intact" },
  "fork of a running one": { from: "running", done: "running", processes: "intact" },
  "fork of one at rest": { from: "paused", done: "paused", processes: "intact" },
  stop: { from: "running", done: "stopped", processes: "ended" },
  "stop after its runtime ended": { from: "running", done: "failed", processes: "ended" },
  start: { from: "stopped", done: "running", processes: "fresh" },
  remove: { from: "running", done: "absent", processes: "ended" },
  "snapshot of a running one": { from: "running", done: "running", processes: "intact" },
  "snapshot of one at rest": { from: "paused", done: "paused", processes: "intact" },
  restore: { from: "paused", done: "paused", processes: "intact" },
  rebase: { from: "stopped", done: "stopped", processes: "ended" },
};

/** All there are, in the order in which an operation passes them. */
export const failpoints: readonly FailpointEntry[] = (Object.keys(variants) as Variant[]).flatMap(pointsOf);

function pointsOf(operation: Variant): FailpointEntry[] {
  const { kind, phases } = variants[operation];
  const { done, ...course } = courses[operation];
  const point = (step: string, when: string, allowed: readonly Resting[], failing = false): FailpointEntry => {
    return { operation, name: `${kind}.${step}`, when, failing, allowed, ...course };
  };
  // It is begun again from the phase that is written down: at the earliest the first.
  const failed = phases[0]?.giveUpOnCrash ? [done, course.from] : [done];
  return [
    ...stepsOf(phases).map(({ step, when, written }) => point(step, when, [written.giveUpOnCrash ? course.from : done])),
    point("commit", "all phases are through, and the outcome is not written down", [done]),
    point("ended", "the outcome is written down, and what nothing refers to any more is not freed", [done]),
    point("undo", "it failed, and nothing is undone", failed, true),
    point("undo.done", "it failed and is undone, and that is not written down", failed, true),
  ];
}

/** `written`: the phase that the record says. */
function stepsOf(phases: readonly Phase[]): { readonly step: string; readonly when: string; readonly written: Phase }[] {
  let written = phases[0];
  return phases.flatMap((phase, index) => {
    written ??= phase;
    const before = { step: phase.name, when: `before ${phase.name}`, written };
    if (phase.joined || index === phases.length - 1) return [before];
    const after = { step: `${phase.name}.done`, when: `after ${phase.name}, which is not written down`, written };
    written = phases[index + 1];
    return [before, after];
  });
}
