import type { Prices, TeamInfo, TeamLimits } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { print, printJson } from "../leave.ts";
import { addListOptions, type ListOptions, printList } from "../list-output.ts";
import { table } from "../table.ts";
import { parseAmount } from "../values/count.ts";
import { parseLimit, parsePrice } from "../values/limit.ts";
import { formatSize, parseSize } from "../values/size.ts";

type Json = { readonly json?: boolean };
type LimitOptions = { -readonly [What in "memory" | "cpus" | "disk" | "sandboxes"]?: number | "none" } & Json;

export function teamCommand(): Command {
  const command = new Command("team")
    .description("show and set what teams may hold of the node, and what they pay for it")
    .addCommand(list())
    .addCommand(limits())
    .addCommand(credit())
    .addCommand(prices());
  return examples(command, ["torpor team list", "torpor team limits blue --memory 8GiB --sandboxes 20", "torpor team credit blue 100"]);
}

function list(): Command {
  const command = addListOptions(
    new Command("list").alias("ls").description("list the teams that have sandboxes, limits or credit, with what they hold and may hold"),
    "names",
  ).action(
    action(async (client, options: ListOptions) => {
      await printList(await client.teams.list(), options, { id: ({ name }) => name, table: tableOf });
      return undefined;
    }),
  );
  return examples(command, ["torpor team list"]);
}

function limits(): Command {
  const command = new Command("limits")
    .description("set what a team's sandboxes may hold together; limits that are not named stay as they are")
    .argument("<team>", "name of the team")
    .option("--memory <size>", "memory of those that run, such as 8GiB; none for no limit", parseLimit(parseSize))
    .option("--cpus <number>", "CPUs of those that run; none for no limit", parseLimit(parseAmount))
    .option("--disk <size>", "sizes of all their disks; none for no limit", parseLimit(parseSize))
    .option("--sandboxes <number>", "how many there may be; none for no limit", parseLimit(parsePrice))
    .option("--json", "print JSON")
    .action(
      action(async (client, name: string, { json, ...asked }: LimitOptions) => {
        const present = (await client.teams.list()).find((team) => team.name === name)?.limits;
        const changed = Object.entries(asked).map(([option, limit]) => [
          fieldOf[option as keyof typeof fieldOf],
          limit === "none" ? null : limit,
        ]);
        return show([await client.teams.setLimits(name, { ...present, ...Object.fromEntries(changed) })], json);
      }),
    );
  return examples(command, ["torpor team limits blue --memory 8GiB --sandboxes 20", "torpor team limits blue --memory none"]);
}

const fieldOf = { memory: "memoryBytes", cpus: "cpus", disk: "diskBytes", sandboxes: "sandboxes" } as const satisfies Record<
  string,
  keyof TeamLimits
>;

function credit(): Command {
  const command = new Command("credit")
    .description("add to a team's prepaid credit; from the first time on it pays for what it uses")
    .argument("<team>", "name of the team")
    .argument("<amount>", "how much, a number", parseAmount)
    .option("--key <key>", "asked for again with the same key within a day it is added once")
    .option("--json", "print JSON")
    .action(
      action(async (client, team: string, amount: number, { key, json }: { key?: string } & Json) =>
        show([await client.teams.topUp(team, amount, key === undefined ? {} : { key })], json),
      ),
    );
  return examples(command, ["torpor team credit blue 100", "torpor team credit blue 100 --key invoice-17"]);
}

function prices(): Command {
  const command = new Command("prices")
    .description("show, or set, what use costs teams that have credit; prices that are not named stay as they are")
    .option("--cpu-second <number>", "of a CPU, for a second", parsePrice)
    .option("--memory-gib-second <number>", "of a GiB of memory, for a second", parsePrice)
    .option("--stored-gib-month <number>", "of a GiB stored, for 30 days", parsePrice)
    .option("--debt-share <number>", "sandboxes are paused when the debt reaches this share of the last top-up", parsePrice)
    .option("--json", "print JSON")
    .action(
      action(async (client, { json, ...asked }: Partial<Prices> & Json) => {
        const present = await client.teams.prices();
        const set = Object.keys(asked).length === 0 ? present : await client.teams.setPrices({ ...present, ...asked });
        await (json === true ? printJson(set) : print(table(["PRICE", "VALUE"], rowsOf(set))));
        return undefined;
      }),
    );
  return examples(command, ["torpor team prices", "torpor team prices --cpu-second 0.00002 --memory-gib-second 0.000005"]);
}

function rowsOf({ cpuSecond, memoryGibSecond, storedGibMonth, debtShare }: Prices): string[][] {
  const rows = {
    "CPU second": cpuSecond,
    "memory GiB second": memoryGibSecond,
    "stored GiB month": storedGibMonth,
    "debt share": debtShare,
  };
  return Object.entries(rows).map(([price, value]) => [price, String(value)]);
}

async function show(teams: readonly TeamInfo[], json: boolean | undefined): Promise<undefined> {
  await (json === true ? printJson(teams) : print(tableOf(teams)));
}

function tableOf(teams: readonly TeamInfo[]): string {
  return table(["TEAM", "SANDBOXES", "MEMORY", "CPUS", "DISK", "BALANCE"], teams.map(rowOf));
}

function rowOf({ name, held, limits: allowed, budget }: TeamInfo): string[] {
  const of = (what: keyof TeamLimits, text: (amount: number) => string) =>
    `${text(held[what])}${allowed[what] === null ? "" : ` of ${text(allowed[what])}`}`;
  const balance = budget === null ? "-" : `${budget.balance.toFixed(4)}${budget.exhausted ? " (exhausted)" : ""}`;
  return [name, of("sandboxes", String), of("memoryBytes", formatSize), of("cpus", String), of("diskBytes", formatSize), balance];
}
