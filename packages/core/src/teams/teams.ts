import type { Prices, SetTeamLimitsRequest, TeamBudget, TeamInfo, TeamLimits } from "@torpor/contract";
import { teamOf } from "../access/teams.ts";
import { keyRecord, type Once, recallKey } from "../idempotency.ts";
import type { Meter } from "../metering.ts";
import type { Ports } from "../ports/ports.ts";
import type { Change } from "../ports/store.ts";
import type { TeamRecord } from "../ports/team-store.ts";
import type { UsageRecord } from "../ports/usage-store.ts";
import { costOf, defaultPrices, exhausted, standingOf, toppedUp } from "./budget.ts";

const unlimited: TeamLimits = { memoryBytes: null, cpus: null, diskBytes: null, sandboxes: null };

/**
 * What is settled for teams: limits, which the store keeps in the transaction of each admission, and budgets, which are paid from as the meters are
 * written, in the same transaction. So a kill in between neither loses nor counts twice.
 */
export class Teams {
  readonly #ports: Ports;
  readonly #meter: Meter;
  readonly #changed: () => void;
  /** As they are in the store: nobody else writes them. */
  readonly #teams = new Map<string, TeamRecord>();
  /** What of the meters is paid for. */
  #paid = new Map<string, UsageRecord>();
  #prices = defaultPrices;
  #turn: Promise<unknown> = Promise.resolve();
  /** Whether what failed was written all the same is not known. */
  #doubtful = false;

  /** `changed`: there may be room, or credit, for who was refused. */
  constructor(ports: Ports, meter: Meter, changed: () => void) {
    this.#ports = ports;
    this.#meter = meter;
    this.#changed = changed;
  }

  async open(): Promise<void> {
    const { store } = this.#ports;
    const [teams, usage, prices] = await Promise.all([store.listTeams(), store.listUsage(), store.prices()]);
    for (const team of teams) this.#teams.set(team.name, team);
    this.#paid = byId(usage);
    this.#prices = prices ?? defaultPrices;
  }

  get prices(): Prices {
    return this.#prices;
  }

  /** Those that have sandboxes or something settled, by name; or the one. */
  async list(only?: string): Promise<TeamInfo[]> {
    const owners = (await this.#ports.store.listSandboxes()).map(teamOf);
    const names = only === undefined ? [...new Set([...owners, ...this.#teams.keys()])].sort() : [only];
    return Promise.all(names.map((name) => this.#infoOf(name)));
  }

  /** In place of those that were set. */
  async setLimits(name: string, limits: SetTeamLimitsRequest): Promise<TeamInfo> {
    const given = Object.entries(limits).filter(([, limit]) => limit !== undefined);
    await this.#inTurn(() => this.#write([{ ...this.#recordOf(name), limits: { ...unlimited, ...Object.fromEntries(given) } }]));
    this.#changed();
    return this.#infoOf(name);
  }

  /** What was used before the first time is not paid for. */
  async topUp(name: string, amount: number, once?: Once): Promise<TeamInfo> {
    const scope = `topUpTeam ${name}`;
    await this.#inTurn(async () => {
      if (once !== undefined && (await recallKey(this.#ports, once, scope)) !== undefined) return;
      await this.#pay();
      const known = this.#recordOf(name);
      const budget = toppedUp(known.budget, amount, this.#ports.clock.now().toISOString());
      await this.#write([{ ...known, budget }], once === undefined ? {} : { keys: [keyRecord(this.#ports, once, scope, "")] });
    });
    this.#changed();
    return this.#infoOf(name);
  }

  /** What was used until now is paid for at the old ones. */
  async setPrices(prices: Prices): Promise<Prices> {
    await this.#inTurn(async () => {
      await this.#pay();
      await this.#ports.store.commit({ prices });
      this.#prices = prices;
    });
    return prices;
  }

  /** Writes the meters, and pays for what was used since the last time. */
  settle(): Promise<void> {
    return this.#inTurn(() => this.#pay());
  }

  /** Refuses what would begin to run. */
  requireCredit(name: string): void {
    const budget = this.#budgetOf(name);
    if (budget?.exhausted === true) throw exhausted(name, budget, this.#prices);
  }

  /** Those that owe too much. */
  exhausted(): ReadonlyMap<string, TeamBudget> {
    const standings = [...this.#teams.keys()].map((name) => [name, this.#budgetOf(name)] as const);
    return new Map(standings.flatMap(([name, budget]) => (budget?.exhausted === true ? [[name, budget] as const] : [])));
  }

  async #pay(): Promise<void> {
    let changed: TeamRecord[] = [];
    const meters = await this.#meter.write((present) => {
      changed = this.#bill(present);
      return { teams: changed };
    });
    this.#paid = byId(meters);
    this.#take(changed);
  }

  #bill(meters: readonly UsageRecord[]): TeamRecord[] {
    return [...this.#teams.values()].flatMap((team) => {
      const own = team.budget === null ? [] : meters.filter((meter) => meter.team === team.name);
      const cost = own.reduce((sum, meter) => sum + costOf(meter, this.#paid.get(meter.sandboxId), this.#prices), 0);
      return team.budget === null || cost === 0 ? [] : [{ ...team, budget: { ...team.budget, used: team.budget.used + cost } }];
    });
  }

  async #write(teams: readonly TeamRecord[], beside: Change = {}): Promise<void> {
    await this.#ports.store.commit({ ...beside, teams });
    this.#take(teams);
  }

  #take(written: readonly TeamRecord[]): void {
    for (const team of written) this.#teams.set(team.name, { ...team, version: team.version + 1 });
  }

  async #infoOf(name: string): Promise<TeamInfo> {
    const held = await this.#ports.store.heldByTeam(name);
    return { name, limits: this.#recordOf(name).limits, held, budget: this.#budgetOf(name) };
  }

  #recordOf(name: string): TeamRecord {
    return this.#teams.get(name) ?? { name, version: 0, limits: unlimited, budget: null };
  }

  #budgetOf(name: string): TeamBudget | null {
    const { budget } = this.#recordOf(name);
    return budget === null ? null : standingOf(budget, this.#prices);
  }

  /** One change after the other: each is made on what the last one wrote. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const doing = this.#turn.then(async () => {
      if (this.#doubtful) await this.open();
      this.#doubtful = true;
      const done = await work();
      this.#doubtful = false;
      return done;
    });
    this.#turn = doing.catch(() => {});
    return doing;
  }
}

function byId(meters: readonly UsageRecord[]): Map<string, UsageRecord> {
  return new Map(meters.map((meter) => [meter.sandboxId, meter]));
}
