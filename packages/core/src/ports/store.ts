import { type Event, type ForkOrigin, type Operation, type Prices, type Sandbox, type Snapshot, TorporError } from "@torpor/contract";
import type { CredentialRecord, CredentialStore } from "./credential-store.ts";
import type { DeliveryRecord, Outbox, WebhookRecord } from "./outbox.ts";
import type { Share } from "./share.ts";
import type { SupervisedRecord, SupervisedStore } from "./supervised-store.ts";
import type { TeamHolding, TeamRecord, TeamStore } from "./team-store.ts";
import type { UsageRecord, UsageStore } from "./usage-store.ts";
import type { WakeRecord, WakeStore, WakeupRecord } from "./wake-store.ts";

/** What is wrong with a stored record that can't be read whole: it was edited by hand, or a newer Torpor wrote it. */
export interface Damage {
  /** The first field that is not what it should be; `record` if nothing of it can be read. */
  readonly field: string;
  /** Every text in it: what it may refer to must not be swept away. */
  readonly mentions: readonly string[];
}

/** The durable record of a sandbox: what clients see, and what only the lifecycle needs. */
export interface SandboxRecord extends Omit<Sandbox, "operation"> {
  /** Grows by one with each change; the compare in compare-and-set. */
  readonly version: number;
  readonly diskId: string | null;
  /** Operation at work. */
  readonly operationId: string | null;
  /** Set by the store on reading, never written: what could be read is right, the rest is `failed`, empty or null. */
  readonly damage?: Damage;
}

/** A removed sandbox that others come from. */
export type AncestorRecord = Pick<SandboxRecord, "id" | "name" | "parentId" | "createdAt"> & {
  readonly fork: ForkOrigin | null;
  readonly removedAt: string;
};

/** The durable record of an operation: what clients see, and its working notes. */
export interface OperationRecord extends Omit<Operation, "cancelable"> {
  readonly version: number;
  /** The validated request that began it. */
  readonly request: Readonly<Record<string, unknown>>;
  /** What its phases noted so far, so that each of them can be repeated: ids of what they made, figures. */
  readonly notes: Readonly<Record<string, unknown>>;
  /** As of a sandbox; only `runningOperations` gives out such a record. */
  readonly damage?: Damage;
}

/** The durable record of a snapshot: what clients see, and where it lies. */
export interface SnapshotRecord extends Omit<Snapshot, "failure"> {
  readonly version: number;
  readonly diskId: string;
  /** As of a sandbox: what could be read is right, the rest is empty or null. */
  readonly damage?: Damage;
}

/** A mutating call that was begun or done: a retry of it is answered by the same. */
export interface KeyRecord {
  readonly key: string;
  /** What was asked, of which sandbox. A key counts within its scope. */
  readonly scope: string;
  /** Hash of the request. */
  readonly fingerprint: string;
  /** What it began or made; empty if that is only told by the answer. */
  readonly operationId: string;
  /** JSON of what it was answered with; null: the operation tells. */
  readonly answer: string | null;
  readonly createdAt: string;
  /** From then on it is as if there were none. */
  readonly expiresAt: string;
}

export type NewEvent = Omit<Event, "seq">;

/** One transaction. Records come with the version they are based on; the store writes them with version + 1. */
export interface Change {
  readonly sandboxes?: readonly SandboxRecord[];
  readonly operations?: readonly OperationRecord[];
  readonly events?: readonly NewEvent[];
  /** An expired one with the same key and scope is replaced. */
  readonly keys?: readonly KeyRecord[];
  /**
   * Sandboxes that are gone: the records with their versions, `updatedAt` the time of it. Their operations and events stay until retention;
   * their wakes and supervised sessions go with them; one that is the parent of another stays as an ancestor until nothing comes from it any more.
   */
  readonly wakes?: readonly WakeRecord[];
  readonly endedWakes?: readonly WakeRecord[];
  readonly wakeups?: readonly WakeupRecord[];
  readonly endedWakeups?: readonly WakeupRecord[];
  readonly supervised?: readonly SupervisedRecord[];
  readonly endedSupervised?: readonly SupervisedRecord[];
  readonly removed?: readonly SandboxRecord[];
  readonly snapshots?: readonly SnapshotRecord[];
  readonly removedSnapshots?: readonly SnapshotRecord[];
  /**
   * All sandboxes together, with this change, must not hold more than that of the node, and those of its teams not more than their limits. Default: as much
   * as there is.
   */
  readonly within?: Share;
  readonly credentials?: readonly CredentialRecord[];
  readonly endedCredentials?: readonly CredentialRecord[];
  /** Replaces what is there; no sandbox need be. */
  readonly usage?: readonly UsageRecord[];
  readonly forgottenUsage?: readonly string[];
  readonly teams?: readonly TeamRecord[];
  readonly prices?: Prices;
  readonly webhooks?: readonly WebhookRecord[];
  readonly removedWebhooks?: readonly WebhookRecord[];
  /** What came of attempts. One that is gone, with its webhook, is passed over. */
  readonly deliveries?: readonly DeliveryRecord[];
}

/**
 * The one durable truth. A commit is all or nothing and survives a kill at any instant once it has resolved.
 *
 * A commit fails with a `StoreConflict` and changes nothing when
 * - `stale`: a record's version is not the stored one (version 0: it must not exist yet),
 * - `name`: another sandbox has the name,
 * - `snapshot`: another snapshot has the name,
 * - `address`: another sandbox has the address,
 * - `operation`: the sandbox would have two running operations,
 * - `key`: the scope has the key, and it is not expired,
 * - `capacity`: all sandboxes together would hold more than `within`; `held` is what they would; of one team beyond its limits
 *   those are `team`.
 *
 * It fails with `storage_failed` when the store can't take it; details `outcome: "unknown"` say that it may have taken place all the same.
 */
export interface Store extends Outbox, WakeStore, CredentialStore, SupervisedStore, UsageStore, TeamStore {
  commit(change: Change): Promise<void>;
  /** By id, or else by name. */
  findSandbox(idOrName: string): Promise<SandboxRecord | undefined>;
  listSandboxes(): Promise<SandboxRecord[]>;
  /** What all sandboxes together hold of the node (lifecycle/holding.ts). */
  held(): Promise<Share>;
  /** Removed sandboxes that others come from. */
  listAncestors(): Promise<AncestorRecord[]>;
  findOperation(id: string): Promise<OperationRecord | undefined>;
  /** Newest first. */
  listOperations(sandboxId: string): Promise<OperationRecord[]>;
  /** All operations with status `running`, oldest first: what recovery finishes or undoes. */
  runningOperations(): Promise<OperationRecord[]>;
  /** Oldest first, those with a seq over `after`, at most `limit`. */
  listEvents(filter: { sandboxId?: string; after?: number; limit?: number }): Promise<Event[]>;
  /** `lost`: the highest seq that was deleted, of all or of one sandbox; `newest`: the highest that was given. 0: none. */
  eventBounds(sandboxId?: string): Promise<{ readonly lost: number; readonly newest: number }>;
  /** By id, or else by name. */
  findSnapshot(idOrName: string): Promise<SnapshotRecord | undefined>;
  /** Oldest first; with `expiredAt` only those that are not pinned and have expired by then. */
  listSnapshots(filter?: { readonly expiredAt?: string }): Promise<SnapshotRecord[]>;
  /** One that is not expired at `now`. */
  findKey(scope: string, key: string, now: string): Promise<KeyRecord | undefined>;
  /** Deletes at most `batch` rows of what may go, each call of another kind if need be. The number of deleted ones; 0: there is no more. */
  prune(retention: Prune): Promise<number>;
  close(): Promise<void>;
}

/**
 * Finished operations and events that are older than `before` or not among the newest of their sandbox; deliveries that ended so long ago, or are
 * not among the newest of their webhook; keys, browser sessions and login codes expired at `now`. What has been on its way to a webhook since before `undeliveredBefore` is given up.
 */
export interface Prune {
  readonly now: string;
  readonly before: string;
  readonly undeliveredBefore: string;
  readonly perSandbox: number;
  readonly batch: number;
}

export type StoreConflictKind = "stale" | "name" | "snapshot" | "address" | "operation" | "key" | "capacity";

/** What a team would hold, and what of it is beyond its limits. */
export interface OverLimit {
  readonly team: TeamRecord;
  readonly held: TeamHolding;
  readonly resource: keyof TeamHolding;
}

export class StoreConflict extends Error {
  override readonly name = "StoreConflict";
  readonly kind: StoreConflictKind;
  readonly held: Share | undefined;
  readonly team: OverLimit | undefined;
  constructor(kind: StoreConflictKind, message: string, held?: Share, team?: OverLimit) {
    super(message);
    this.kind = kind;
    this.held = held;
    this.team = team;
  }
}

/** Whether a commit that failed may have taken place all the same. */
export function isUnknown(error: unknown): boolean {
  return error instanceof TorporError && error.details.outcome === "unknown";
}
