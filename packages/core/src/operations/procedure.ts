import type { OperationKind, TorporError } from "@torpor/contract";
import type { Ports } from "../ports/ports.ts";
import type { OperationRecord, SandboxRecord, SnapshotRecord } from "../ports/store.ts";

/** What a phase works with. It reads records here and changes them only by the step that it returns. */
export interface Work {
  readonly ports: Ports;
  readonly sandbox: SandboxRecord;
  readonly operation: OperationRecord;
  /** Aborts when the operation should give up; its reason is a `GivingUp`. */
  readonly signal: AbortSignal;
  /** An earlier attempt may have done any part of the phase already, or of those after it. */
  readonly repeated: boolean;
  /** Begins or joins the operation that makes a child. */
  readonly spawn: (sandbox: SandboxRecord, operation: OperationRecord) => Promise<OperationRecord>;
}

/** What a phase wants to have written down. */
export interface Step {
  readonly notes?: Readonly<Record<string, unknown>>;
  readonly sandbox?: Partial<SandboxRecord>;
}

/** One idempotent part of an operation. */
export interface Phase {
  readonly name: string;
  run(work: Work): Promise<Step | undefined>;
  /** Its end is journaled together with that of the next phase: a crash between them only repeats it. */
  readonly joined?: true;
  /** Its end is journaled beside the next phase, which does not wait for it. After a crash either of the two is where the operation goes on. */
  readonly beside?: true;
  /** After a crash in this phase the operation goes on from that one. Default: this one. */
  readonly redoFrom?: string;
  /** After a crash in this phase the operation is undone: repeating it could keep the daemon from listening for minutes. */
  readonly giveUpOnCrash?: true;
}

export interface Outcome {
  readonly sandbox: Partial<SandboxRecord> | "removed";
  readonly events: readonly { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[];
  readonly result?: Readonly<Record<string, unknown>>;
  /** New ones, in the same transaction. */
  readonly snapshots?: readonly SnapshotRecord[];
  /** Failed after all, although every phase went through. */
  readonly error?: TorporError;
  /** What nothing refers to once the outcome is committed. If freeing it fails, the sweep of the next start does it. */
  readonly garbage?: { readonly disks?: readonly string[]; readonly checkpoints?: readonly string[] };
}

export interface Failing {
  readonly error: TorporError;
  /** It failed at or after the commit point, so nothing was undone. */
  readonly committed: boolean;
  /** It was given up for a removal, which waits for its record. */
  readonly superseded: boolean;
}

/** Why an operation gives up: the reason of its signal. */
export type GivingUp = "removal" | "request" | "use";

/** An operation: its phases in order, and how it ends. */
export interface Procedure {
  readonly kind: OperationKind;
  readonly phases: readonly Phase[];
  /** From this phase on it only goes forward. null: any failure is undone, up to the last commit. */
  readonly commitPoint: string | null;
  /** Garbage is freed after the answer, so that nobody waits for it. */
  readonly freeLater?: true;
  /** Takes back what the phases did, whichever of them ran. Repeatable. */
  undo(work: Work): Promise<void>;
  succeed(work: Work): Outcome;
  fail(work: Work, failing: Failing): Promise<Outcome>;
}

export function note(work: Work, name: string): string {
  const value = work.operation.notes[name];
  if (typeof value !== "string") throw new Error(`operation ${work.operation.id} has no note ${name}`);
  return value;
}

export function optionalNote(work: Work, name: string): string | null {
  const value = work.operation.notes[name];
  return typeof value === "string" ? value : null;
}

export function numericNote(work: Work, name: string): number {
  const value = work.operation.notes[name];
  return typeof value === "number" ? value : 0;
}
