import type { OperationRecord } from "../ports/store.ts";
import { create } from "./create.ts";
import { fork, forkAtRest } from "./fork.ts";
import { pause, pauseFiles } from "./pause.ts";
import type { Procedure } from "./procedure.ts";
import { rebase } from "./rebase.ts";
import { remove } from "./remove.ts";
import { restore } from "./restore.ts";
import { resume } from "./resume.ts";
import { snapshot, snapshotAtRest } from "./snapshot.ts";
import { start } from "./start.ts";
import { ended, stop } from "./stop.ts";

/** All that there are, by the names that the reference calls them. */
export const variants = {
  create,
  pause,
  "pause, files only": pauseFiles,
  resume,
  "fork of a running one": fork,
  "fork of one at rest": forkAtRest,
  stop,
  "stop after its runtime ended": ended,
  start,
  remove,
  "snapshot of a running one": snapshot,
  "snapshot of one at rest": snapshotAtRest,
  restore,
  rebase,
} as const satisfies Record<string, Procedure>;

type Variant = Pick<OperationRecord, "kind" | "request"> & { readonly notes: Readonly<Record<string, unknown>> };

/** How an operation is done. The choice rests on what is written in its record only, so that a restart chooses the same. */
export function procedureOf({ kind, request, notes }: Variant): Procedure {
  switch (kind) {
    case "create":
      return create;
    case "pause":
      return request.memory === false ? pauseFiles : pause;
    case "resume":
      return resume;
    case "fork":
      return notes.prior === "running" ? fork : forkAtRest;
    case "stop":
      return request.end === undefined ? stop : ended;
    case "start":
      return start;
    case "remove":
      return remove;
    case "snapshot":
      return notes.prior === "running" ? snapshot : snapshotAtRest;
    case "restore":
      return restore;
    case "rebase":
      return rebase;
  }
}

/** Whether what it did so far can be undone: it is not at its commit point yet. */
export function isCancelable(record: OperationRecord): boolean {
  if (record.status !== "running") return false;
  const procedure = procedureOf(record);
  return cancelablePhases(procedure).includes(record.phase);
}

export function cancelablePhases({ phases, commitPoint }: Procedure): readonly string[] {
  const names = phases.map(({ name }) => name);
  return commitPoint === null ? names : names.slice(0, names.indexOf(commitPoint));
}
