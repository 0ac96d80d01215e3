import type { BeginSessionRequest, Supervise, Supervision } from "@torpor/contract";
import type { JournalFrame } from "./guest.ts";

/** With everything that was left out filled in. */
export type SupervisionPolicy = { readonly [K in Exclude<keyof Supervise, "readiness">]-?: NonNullable<Supervise[K]> } & Pick<
  Supervise,
  "readiness"
>;

/** The durable part of a supervised session: what is wanted, and what has become of it. */
export interface SupervisedRecord extends Pick<Supervision, "desired" | "state" | "attempt" | "nextAt" | "lastEnd" | "reason"> {
  readonly sandboxId: string;
  readonly id: string;
  readonly version: number;
  readonly policy: SupervisionPolicy;
  readonly start: Omit<BeginSessionRequest, "supervise" | "command" | "argv"> & { readonly argv: readonly string[] };
  /** The newest attempt about whose end it was decided what follows. */
  readonly judged: number;
  /** Attempts up to this one are to be replaced, whatever the policy says. */
  readonly replaced: number;
  /** When it was restarted within the window. */
  readonly restartedAt: readonly string[];
  /** The runtime that its newest process began in. */
  readonly runtimeId: string | null;
  /** The last number of its output that is known, and after a graceful end of the runtime its last output. */
  readonly lastSeq: number;
  readonly journal: readonly StoredFrame[];
  readonly createdAt: string;
}

/** A frame as JSON: the bytes are base64. */
export type StoredFrame = readonly [seq: number, stream: Extract<JournalFrame, { type: "output" }>["stream"] | "mark", data: string];

/** The part of the store that keeps supervised sessions. They are changed by commits, with versions, and go with their sandbox. */
export interface SupervisedStore {
  /** Of one sandbox or of all, oldest first. */
  listSupervised(sandboxId?: string): Promise<SupervisedRecord[]>;
  findSupervised(sandboxId: string, id: string): Promise<SupervisedRecord | undefined>;
}
