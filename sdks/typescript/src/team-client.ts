import type { Prices, SetTeamLimitsRequest, TeamInfo } from "@torpor/contract";
import { refuseUnknown } from "./refuse-unknown.ts";
import type { Transport } from "./transport.ts";

/** What teams may hold of the node, and what they pay for it. */
export class TeamClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Those that have sandboxes, limits or credit. */
  async list(): Promise<TeamInfo[]> {
    return (await this.#transport.json<{ teams: TeamInfo[] }>("listTeams")).teams;
  }

  /** In place of those that were set: what is not named is not limited. */
  setLimits(team: string, body: SetTeamLimitsRequest): Promise<TeamInfo> {
    return this.#transport.json("setTeamLimits", { params: { team }, body });
  }

  /** Adds to its credit. With a key of one's own it may be asked for again and again, and is done once. */
  async topUp(team: string, amount: number, options: { readonly key?: string } = {}): Promise<TeamInfo> {
    refuseUnknown(options, { key: true });
    const headers = options.key === undefined ? {} : { headers: { "idempotency-key": options.key } };
    return this.#transport.json("topUpTeam", { params: { team }, body: { amount }, ...headers });
  }

  prices(): Promise<Prices> {
    return this.#transport.json("getPrices");
  }

  /** From now on; what was used before is paid for at the old ones. */
  setPrices(body: Prices): Promise<Prices> {
    return this.#transport.json("setPrices", { body });
  }
}
