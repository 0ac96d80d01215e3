import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import type { TorporClient } from "@torpor/sdk";
import { expect } from "vitest";
import { put } from "./content.ts";
import { eventually, output, patienceMs } from "./inside.ts";
import { TickingTerminal } from "./ticking-terminal.ts";
import { databaseRows, ports, workloadProgram } from "./workload-programs.ts";

const program = "/srv/workload.py";
const clients = 2;

interface Web {
  readonly pid: number;
  readonly served: readonly number[];
  readonly wrong: readonly unknown[];
}

interface Database {
  readonly pid: number;
  readonly acknowledged: number;
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  readonly torn: number;
  readonly sound: string;
}

interface Pattern {
  readonly pid: number;
  readonly turn: number;
  readonly found: string;
  readonly left: string;
}

/** What a sandbox must not lose, all at once: a busy web server, a terminal, a database that is written all the time, and much memory. */
export class Workload {
  readonly #client: TorporClient;
  readonly #sandbox: string;
  readonly #address: string;
  readonly #terminal: TickingTerminal;
  #web: Web;
  #database: Database;
  #pattern: Pattern;

  private constructor(at: Place, terminal: TickingTerminal, web: Web, database: Database, pattern: Pattern) {
    this.#client = at.client;
    this.#sandbox = at.sandbox;
    this.#address = at.address;
    this.#terminal = terminal;
    this.#web = web;
    this.#database = database;
    this.#pattern = pattern;
  }

  /** Resolves once all of it is at work. */
  static async start(client: TorporClient, sandbox: string, patternMib: number): Promise<Workload> {
    await put(client, sandbox, program, workloadProgram);
    const start = (...role: string[]) => client.startSession(sandbox, { argv: ["python3", program, ...role] });
    await Promise.all([start("web"), start("database"), start("pattern", String(patternMib))]);
    const address = String((await client.get(sandbox)).address);
    const web = await eventually(
      () => ask<Web>(address, "web").catch(() => undefined),
      (answer) => answer !== undefined,
    );
    for (let i = 1; i <= clients; i++) await start("load", String(i));
    const database = await eventually(
      () => ask<Database>(address, "database").catch(() => undefined),
      (answer) => answer !== undefined && answer.acknowledged > databaseRows,
    );
    const pattern = await eventually(
      () => ask<Pattern>(address, "pattern").catch(() => undefined),
      (answer) => answer !== undefined,
    );
    const terminal = await TickingTerminal.start(client, sandbox);
    return new Workload({ client, sandbox, address }, terminal, web as Web, database as Database, pattern as Pattern);
  }

  /** After each pause. */
  paused(): Promise<void> {
    return this.#terminal.paused();
  }

  /** After each resume: the same processes go on from where they were, and everything is whole. */
  async goesOn(): Promise<void> {
    await Promise.all([this.#terminal.goOn(), this.#webGoesOn(), this.#databaseGoesOn(), this.#patternGoesOn()]);
  }

  /** After a boot from the files alone: what was acknowledged is on the disk. */
  async hasAcknowledged(): Promise<void> {
    const found = JSON.parse(await output(this.#client, this.#sandbox, ["python3", program, "look"])) as Database;
    expectWhole(found);
    expect(found.last).toBeGreaterThanOrEqual(this.#database.acknowledged);
  }

  async #webGoesOn(): Promise<void> {
    const before = this.#web;
    const grown = ({ served }: Web) => served.length === clients && served.every((count, i) => count > (before.served[i] ?? 0));
    this.#web = await eventually(() => ask<Web>(this.#address, "web"), grown);
    expect(this.#web).toMatchObject({ pid: before.pid, wrong: [] });
  }

  async #databaseGoesOn(): Promise<void> {
    const before = this.#database;
    const now = await eventually(
      () => ask<Database>(this.#address, "database"),
      ({ acknowledged }) => acknowledged > before.acknowledged,
    );
    expect(now.pid).toBe(before.pid);
    expectWhole(now);
    expect(now.last).toBeGreaterThanOrEqual(now.acknowledged);
    this.#database = now;
  }

  async #patternGoesOn(): Promise<void> {
    const { pid, turn, left } = this.#pattern;
    this.#pattern = await ask<Pattern>(this.#address, "pattern");
    expect(this.#pattern).toMatchObject({ pid, turn: turn + 1, found: left });
  }
}

interface Place {
  readonly client: TorporClient;
  readonly sandbox: string;
  readonly address: string;
}

function expectWhole({ first, last, rows, torn, sound }: Database): void {
  expect({ rows, first, torn, sound }).toEqual({ rows: databaseRows, first: last - databaseRows + 1, torn: 0, sound: "ok" });
}

/**
 * From the host, over a connection of its own, which is closed from here. One that the server closed is in TIME-WAIT at the next pause, and the engine keeps each
 * connection to the outside that it ended at a restore in all checkpoints after it (1.3 KB, and a slower capture): that would be measured in place of ours.
 */
async function ask<T>(address: string, of: keyof typeof ports): Promise<T> {
  const agent = new Agent({ keepAlive: true });
  try {
    const request = get({ host: address, port: ports[of], agent, signal: AbortSignal.timeout(patienceMs) });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return (await json(response)) as T;
  } finally {
    agent.destroy();
  }
}
