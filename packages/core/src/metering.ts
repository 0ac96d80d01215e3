import type { SandboxUsage } from "@torpor/contract";
import { teamOf } from "./access/teams.ts";
import { holdingOf } from "./lifecycle/holding.ts";
import type { Ports } from "./ports/ports.ts";
import type { Change, SandboxRecord } from "./ports/store.ts";
import type { UsageRecord } from "./ports/usage-store.ts";

const gib = 1024 ** 3;
/** So long the usage of a removed sandbox is told. */
const keptMs = 90 * 24 * 60 * 60 * 1000;
const nothing = { cpus: 0, memoryBytes: 0 };

/**
 * Counts what sandboxes use, from change to change of their records. It is written down now and again; after a kill the rest follows from the
 * records: what held something at the last writing held it until its record says otherwise.
 */
export class Meter {
  readonly #ports: Ports;
  readonly #meters = new Map<string, UsageRecord>();
  readonly #forgotten = new Set<string>();
  #open = false;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Takes up what an earlier daemon counted. */
  async open(): Promise<void> {
    const [known, sandboxes] = await Promise.all([this.#ports.store.listUsage(), this.#ports.store.listSandboxes()]);
    const byId = new Map(sandboxes.map((sandbox) => [sandbox.id, sandbox]));
    for (const meter of known) this.#meters.set(meter.sandboxId, this.#carriedOn(meter, byId.get(meter.sandboxId)));
    this.#open = true;
    for (const sandbox of sandboxes) this.#take(sandbox);
  }

  /** A change that was made. Before it is open there is nothing to count from: the records will tell. */
  observe({ sandboxes = [], removed = [] }: Change): void {
    if (!this.#open) return;
    for (const sandbox of sandboxes) this.#take(sandbox);
    for (const { id } of removed) {
      const meter = this.#meters.get(id);
      if (meter !== undefined) this.#meters.set(id, { ...advanced(meter, this.#now), holding: nothing, removedAt: this.#now });
    }
  }

  /** Up to now; of a team only its own. */
  list(team?: string): SandboxUsage[] {
    const wanted = [...this.#meters.values()].filter((meter) => team === undefined || meter.team === team);
    return wanted.map((meter) => {
      const { holding: _holding, ...usage } = meter.removedAt === null ? advanced(meter, this.#now) : meter;
      return usage;
    });
  }

  /** Looks at what is stored, and writes all down, with what follows from it in the same transaction. Gives what was written. */
  async write(beside: (meters: readonly UsageRecord[]) => Change = () => ({})): Promise<readonly UsageRecord[]> {
    const sandboxes = await this.#ports.store.listSandboxes();
    const stored = new Map(await Promise.all(sandboxes.map(async (sandbox) => [sandbox.id, await this.#storedBytes(sandbox)] as const)));
    const now = this.#now;
    const last = [...this.#meters.values()].filter(({ removedAt }) => removedAt !== null);
    for (const [id, meter] of this.#meters) {
      if (meter.removedAt !== null) {
        if (Date.parse(now) - Date.parse(meter.removedAt) <= keptMs) continue;
        this.#meters.delete(id);
        this.#forgotten.add(id);
        continue;
      }
      this.#meters.set(id, advanced(meter, now, stored.get(id) ?? 0));
    }
    const usage = [...this.#meters.values()];
    // One that is forgotten may not have been written since it ended.
    const forgotten = last.filter(({ sandboxId }) => this.#forgotten.has(sandboxId));
    await this.#ports.store.commit({ ...beside([...usage, ...forgotten]), usage, forgottenUsage: [...this.#forgotten] });
    this.#forgotten.clear();
    return usage;
  }

  /** It held what it did to the end that its record tells; one whose record is gone was removed by a daemon that was killed then. */
  #carriedOn(meter: UsageRecord, sandbox: SandboxRecord | undefined): UsageRecord {
    if (meter.removedAt !== null) return meter;
    const end = sandbox === undefined || holds(sandbox) ? this.#now : endOf(sandbox);
    const counted = { ...advanced(meter, later(end, meter.until)), holding: nothing };
    return sandbox === undefined ? { ...counted, removedAt: this.#now } : counted;
  }

  #take(sandbox: SandboxRecord): void {
    const { id, name, createdAt } = sandbox;
    const now = this.#now;
    const known = this.#meters.get(id);
    const holding = { cpus: holdingOf(sandbox).cpus, memoryBytes: holdingOf(sandbox).memoryBytes };
    const counted = known === undefined ? fresh(id, createdAt, now) : advanced(known, now);
    this.#meters.set(id, { ...counted, name, team: teamOf(sandbox), holding });
  }

  async #storedBytes({ diskId, checkpoint }: SandboxRecord): Promise<number> {
    const diskBytes = diskId === null ? 0 : await this.#ports.disks.storedBytes(diskId).catch(() => 0);
    return diskBytes + (checkpoint?.storedBytes ?? 0);
  }

  get #now(): string {
    return this.#ports.clock.now().toISOString();
  }
}

function fresh(sandboxId: string, since: string, until: string): UsageRecord {
  const none = { runningSeconds: 0, cpuSeconds: 0, memoryGibSeconds: 0, storedGibSeconds: 0 };
  return { sandboxId, name: "", team: "", since, until, removedAt: null, ...none, holding: nothing };
}

/** A clock that was set back counts nothing. What is stored is counted by whoever has looked. */
function advanced(meter: UsageRecord, at: string, storedBytes = 0): UsageRecord {
  const seconds = Math.max(0, Date.parse(at) - Date.parse(meter.until)) / 1000;
  const { cpus, memoryBytes } = meter.holding;
  return {
    ...meter,
    until: at,
    runningSeconds: meter.runningSeconds + (memoryBytes > 0 ? seconds : 0),
    cpuSeconds: meter.cpuSeconds + cpus * seconds,
    memoryGibSeconds: meter.memoryGibSeconds + (memoryBytes / gib) * seconds,
    storedGibSeconds: meter.storedGibSeconds + (storedBytes / gib) * seconds,
  };
}

function holds(sandbox: SandboxRecord): boolean {
  return holdingOf(sandbox).memoryBytes > 0;
}

function endOf({ pausedAt, stoppedAt, updatedAt }: SandboxRecord): string {
  return pausedAt ?? stoppedAt ?? updatedAt;
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}
