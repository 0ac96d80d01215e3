import type { Failpoint, Log, Ports } from "../ports/ports.ts";
import type { Share } from "../ports/share.ts";
import type { Store } from "../ports/store.ts";
import { createLifecycle, type Lifecycle } from "../sandboxes.ts";
import { FakeClock } from "./fake-clock.ts";
import { KillSwitch } from "./killable.ts";
import { MemoryCheckpoints } from "./memory-checkpoints.ts";
import { MemoryComparison } from "./memory-comparison.ts";
import { MemoryDisks } from "./memory-disks.ts";
import { MemoryEngine, type MemoryEngineOptions } from "./memory-engine.ts";
import { MemoryImages } from "./memory-images.ts";
import { MemoryNetwork } from "./memory-network.ts";
import { MemoryReceivers } from "./memory-receivers.ts";
import { MemorySchedules } from "./memory-schedules.ts";
import { MemoryStore } from "./memory-store.ts";
import { MemoryTokens } from "./memory-tokens.ts";
import { SequenceIds } from "./sequence-ids.ts";

export interface MemoryWorldOptions {
  readonly unsupported?: NonNullable<MemoryEngineOptions["unsupported"]>;
  readonly clock?: FakeClock;
  /** Default: one in memory. */
  readonly store?: Store;
}

/** A host in memory, on which lifecycles can be started and killed one after the other. */
export class MemoryWorld {
  readonly store: Store;
  readonly disks = new MemoryDisks();
  readonly checkpoints = new MemoryCheckpoints();
  readonly images = new MemoryImages();
  readonly comparison = new MemoryComparison(this.disks);
  readonly network = new MemoryNetwork();
  readonly receivers = new MemoryReceivers();
  readonly ids = new SequenceIds();
  readonly tokens = new MemoryTokens();
  readonly schedules = new MemorySchedules();
  readonly clock: FakeClock;
  readonly engine: MemoryEngine;
  /** What all sandboxes together may hold. */
  capacity: Share = { memoryBytes: 1024 ** 4, cpus: 1024, diskBytes: 1024 ** 5 };
  /** What was logged as an error. */
  readonly errors: string[] = [];
  readonly #log: Log = {
    info: () => {},
    error: (message, fields) => this.errors.push(`${message}: ${String(fields.cause)}`),
  };

  constructor({ unsupported = [], clock = new FakeClock(), store = new MemoryStore() }: MemoryWorldOptions = {}) {
    this.store = store;
    this.clock = clock;
    this.engine = new MemoryEngine({ disks: this.disks, checkpoints: this.checkpoints, unsupported });
  }

  ports(failpoint?: Failpoint): Ports {
    const { store, disks, checkpoints, images, comparison, network, receivers, ids, tokens, schedules, clock, engine } = this;
    const node = { memoryBytes: 8 * 1024 ** 3, cpus: 4, capacity: this.capacity };
    const world = { store, disks, checkpoints, images, comparison, network, receivers, ids, tokens, schedules, clock, engine };
    return { ...world, log: this.#log, node, ...(failpoint ? { failpoint } : {}) };
  }

  lifecycle(failpoint?: Failpoint): Lifecycle {
    return createLifecycle(this.ports(failpoint));
  }

  /** A daemon that `kill` ends at once, whatever it is doing; once `quiet` resolves, another may start. */
  daemon(failpoint?: Failpoint): { lifecycle: Lifecycle; kill: () => void; quiet: () => Promise<void> } {
    const power = new KillSwitch();
    const ports = this.ports();
    const guarded: Ports = {
      ...ports,
      store: power.guard(ports.store),
      disks: power.guard(ports.disks),
      checkpoints: power.guard(ports.checkpoints),
      engine: power.guard(ports.engine),
      receivers: power.guard(ports.receivers),
      failpoint: async (name) => {
        await failpoint?.(name);
        await power.pass();
      },
    };
    const kill = (): void => {
      power.kill();
      this.engine.forgetDaemon();
    };
    return { lifecycle: createLifecycle(guarded), kill, quiet: () => power.quiet() };
  }
}
