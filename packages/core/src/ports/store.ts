import type { Event, Operation, Sandbox } from "@torpor/contract";

/** The durable record of a sandbox: what clients see, and what only the lifecycle needs. */
export interface SandboxRecord extends Omit<Sandbox, "operation"> {
  /** Grows by one with each change; the compare in compare-and-set. */
  readonly version: number;
  readonly diskId: string | null;
  /** Operation at work. */
  readonly operationId: string | null;
}

/** The durable record of an operation: what clients see, and its working notes. */
export interface OperationRecord extends Operation {
  readonly version: number;
  /** The validated request that began it. */
  readonly request: Readonly<Record<string, unknown>>;
  /** What its phases noted so far, so that each of them can be repeated: ids of what they made, figures. */
  readonly notes: Readonly<Record<string, unknown>>;
}

export type NewEvent = Omit<Event, "seq">;

/** One transaction. Records come with the version they are based on; the store writes them with version + 1. */
export interface Change {
  readonly sandboxes?: readonly SandboxRecord[];
  readonly operations?: readonly OperationRecord[];
  readonly events?: readonly NewEvent[];
  /** Sandboxes that are gone: the records with their versions. Their operations and events stay until retention. */
  readonly removed?: readonly SandboxRecord[];
}

/**
 * The one durable truth. A commit is all or nothing and survives a kill at any instant once it has resolved.
 *
 * A commit fails with a `StoreConflict` and changes nothing when
 * - `stale`: a record's version is not the stored one (version 0: it must not exist yet),
 * - `name`: another sandbox has the name,
 * - `address`: another sandbox has the address,
 * - `operation`: the sandbox would have two running operations.
 */
export interface Store {
  commit(change: Change): Promise<void>;
  /** By id, or else by name. */
  findSandbox(idOrName: string): Promise<SandboxRecord | undefined>;
  listSandboxes(): Promise<SandboxRecord[]>;
  findOperation(id: string): Promise<OperationRecord | undefined>;
  /** Newest first. */
  listOperations(sandboxId: string): Promise<OperationRecord[]>;
  /** All operations with status `running`, oldest first: what recovery finishes or undoes. */
  runningOperations(): Promise<OperationRecord[]>;
  /** Oldest first, those with a seq over `after`, at most `limit`. */
  listEvents(filter: { sandboxId?: string; after?: number; limit?: number }): Promise<Event[]>;
  close(): Promise<void>;
}

export type StoreConflictKind = "stale" | "name" | "address" | "operation";

export class StoreConflict extends Error {
  override readonly name = "StoreConflict";
  readonly kind: StoreConflictKind;
  constructor(kind: StoreConflictKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
