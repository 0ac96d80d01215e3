import type { Checkpoints } from "./checkpoints.ts";
import type { Clock } from "./clock.ts";
import type { Comparison } from "./comparison.ts";
import type { Disks } from "./disks.ts";
import type { Engine } from "./engine.ts";
import type { Guest } from "./guest.ts";
import type { Ids } from "./ids.ts";
import type { Images } from "./images.ts";
import type { Network } from "./network.ts";
import type { Receivers } from "./receivers.ts";
import type { Schedules } from "./schedules.ts";
import type { Share } from "./share.ts";
import type { Store } from "./store.ts";
import type { Tokens } from "./tokens.ts";

/** What the node is, for refusals with figures. */
export interface NodeCapacity {
  /** The most that one sandbox can have. */
  readonly memoryBytes: number;
  readonly cpus: number;
  /** The most that all of them together may hold. CPUs and disks may be more than there are: few use theirs all the time, or whole. */
  readonly capacity: Share;
}

/** For the daemon's log. Never given secrets, environments or file contents. */
export interface Log {
  info(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** Called between all steps of all operations with the step's name. Tests stop, fail or kill there; absent in production. */
export type Failpoint = (name: string) => Promise<void>;

/** Everything the lifecycle touches the world through. */
export interface Ports {
  readonly store: Store;
  readonly engine: Engine;
  readonly disks: Disks;
  readonly checkpoints: Checkpoints;
  readonly images: Images;
  readonly comparison: Comparison;
  readonly network: Network;
  readonly receivers: Receivers;
  readonly ids: Ids;
  readonly tokens: Tokens;
  readonly schedules: Schedules;
  readonly clock: Clock;
  readonly log: Log;
  readonly node: NodeCapacity;
  readonly failpoint?: Failpoint;
  /** Sends what is due of a sandbox to its receivers, for a short time at most: before its memory is taken. The lifecycle's own. */
  readonly drain?: (sandboxId: string) => Promise<void>;
  /** Ends a sandbox's supervised processes in their order, before all others, and keeps what they put out. The lifecycle's own. */
  readonly windDown?: (sandboxId: string, guest: Guest, graceMs: number) => Promise<void>;
}
