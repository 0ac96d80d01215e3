import type { NodeStats, SandboxStats } from "@torpor/contract";
import { teamOf } from "./access/teams.ts";
import { lookUp } from "./commands.ts";
import type { RuntimeStats } from "./ports/engine.ts";
import type { Ports } from "./ports/ports.ts";
import type { SandboxRecord } from "./ports/store.ts";

/** A percentage over less time says more about the clock than about the sandbox. */
const shortestMs = 200;
/** An older look says nothing about now: two are taken, `shortestMs` apart. */
const stalestMs = 10_000;

interface Look {
  readonly atMs: number;
  readonly cpuMs: number;
  readonly percent: number;
}

/** What sandboxes use. It knows nothing but the last look at each runtime, which a percentage needs. */
export class Stats {
  readonly #ports: Ports;
  readonly #looks = new Map<string, Look>();
  #all: Promise<readonly { readonly team: string; readonly stats: SandboxStats }[]> | undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async of(idOrName: string): Promise<SandboxStats> {
    return (await this.#figures([await lookUp(this.#ports, idOrName)]))[0] as SandboxStats;
  }

  /** Those who ask at the same time get the same figures: many readers cost no more than one. Of a team each gets its own. */
  async all(team?: string): Promise<Omit<NodeStats, "pool">> {
    this.#all ??= this.#lookAtAll().finally(() => {
      this.#all = undefined;
    });
    const sandboxes = (await this.#all).filter((one) => team === undefined || one.team === team).map(({ stats }) => stats);
    return { at: this.#ports.clock.now().toISOString(), sandboxes };
  }

  async #lookAtAll() {
    const records = await this.#ports.store.listSandboxes();
    const runtimes = new Set(records.map(({ runtimeId }) => runtimeId));
    for (const runtimeId of this.#looks.keys()) if (!runtimes.has(runtimeId)) this.#looks.delete(runtimeId);
    const figures = await this.#figures(records);
    return figures.map((stats, index) => ({ team: teamOf(records[index] ?? {}), stats }));
  }

  async #figures(records: readonly SandboxRecord[]): Promise<SandboxStats[]> {
    const { clock } = this.#ports;
    const now = clock.monotonicMs();
    const running = records.filter(isAsked);
    const unknown = running.filter(({ runtimeId }) => now - (this.#looks.get(runtimeId)?.atMs ?? -stalestMs) >= stalestMs);
    if (unknown.length > 0) {
      await Promise.all(unknown.map((record) => this.#look(record)));
      await clock.sleep(shortestMs);
    }
    return Promise.all(records.map((record) => this.#statsOf(record)));
  }

  async #statsOf(record: SandboxRecord): Promise<SandboxStats> {
    const { id, name, state, resources, checkpoint } = record;
    const [found, diskBytes] = await Promise.all([isAsked(record) ? this.#look(record) : undefined, this.#diskBytes(record)]);
    return {
      id,
      name,
      state,
      memory: { usedBytes: found?.memoryBytes ?? 0, limitBytes: resources.memoryBytes },
      cpu: { usedMs: Math.round(found?.cpuMs ?? 0), percent: found?.percent ?? 0, limit: resources.cpus },
      processes: found === undefined ? 0 : found.processes,
      disk: { usedBytes: diskBytes, limitBytes: resources.diskBytes },
      checkpointBytes: checkpoint?.storedBytes ?? 0,
      network: found?.network ?? null,
    };
  }

  /** undefined: it ended just now. */
  async #look({ runtimeId }: Asked): Promise<(RuntimeStats & { readonly percent: number }) | undefined> {
    const found = await this.#ports.engine.stats(runtimeId).catch(() => undefined);
    if (found === undefined) return undefined;
    const atMs = this.#ports.clock.monotonicMs();
    const before = this.#looks.get(runtimeId);
    if (before !== undefined && atMs - before.atMs < shortestMs) return { ...found, percent: before.percent };
    const percent = before === undefined ? 0 : Math.max(0, round((100 * (found.cpuMs - before.cpuMs)) / (atMs - before.atMs)));
    this.#looks.set(runtimeId, { atMs, cpuMs: found.cpuMs, percent });
    return { ...found, percent };
  }

  async #diskBytes({ diskId }: SandboxRecord): Promise<number> {
    return diskId === null ? 0 : this.#ports.disks.storedBytes(diskId).catch(() => 0);
  }
}

type Asked = SandboxRecord & { readonly runtimeId: string };

function isAsked(record: SandboxRecord): record is Asked {
  return record.runtimeId !== null && record.damage === undefined;
}

const round = (percent: number): number => Math.round(percent * 10) / 10;
