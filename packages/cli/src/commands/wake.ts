import type { CreatedWake, CreateWakeRequest, Wake } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { oneLine, say } from "../failure.ts";
import { print, printJson } from "../leave.ts";
import { addListOptions, type ListOptions, printList } from "../list-output.ts";
import { forEach, jsonOption, type Several } from "../several.ts";
import { table } from "../table.ts";
import { parseDuration } from "../values/duration.ts";
import { parseInstant } from "../values/instant.ts";

interface AddOptions {
  at?: string;
  after?: number;
  cron?: string;
  timezone?: string;
  url?: true;
  signed?: boolean;
  label?: string;
  json?: boolean;
}

export function wakeCommand(): Command {
  const command = new Command("wake")
    .description("let a paused sandbox be resumed at a time, by a schedule, or by a call to an address")
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(removeCommand());
  return examples(command, ["torpor wake add --after 2h base"]);
}

function addCommand(): Command {
  const command = new Command("add")
    .description("add a wake; prints its id, of an address its path")
    .argument("<sandbox>", "id or name")
    .option("--at <time>", "once, such as 2026-12-01T09:00; without a zone in that of this machine", parseInstant)
    .option("--after <duration>", "once, so long from now, such as 2h", parseDuration)
    .option("--cron <schedule>", "by a schedule: minute, hour, day of month, month, day of week")
    .option("--timezone <zone>", "of --cron, such as Europe/Berlin; default UTC")
    .option("--url", "by a call to an address that nobody can guess")
    .option("--signed", "the call must be signed with a secret, which is printed")
    .option("--label <text>", "comes with each wake")
    .option("--json", "print the wake as JSON")
    .action(
      action(async (client, id: string, { after, json, ...rest }: AddOptions) => {
        const request: CreateWakeRequest = { ...rest, ...(after === undefined ? {} : { afterMs: after }) };
        const wake = await client.wakes.create(id, request);
        await (json === true ? printJson(wake) : tell(wake));
        return undefined;
      }),
    );
  return examples(command, [
    "torpor wake add --after 2h base",
    'torpor wake add --cron "0 9 * * 1-5" --timezone Europe/Berlin base',
    "torpor wake add --url --signed base",
  ]);
}

function listCommand(): Command {
  const command = addListOptions(
    new Command("list").alias("ls").description("list what resumes a sandbox").argument("<sandbox>", "id or name"),
  ).action(
    action(async (client, id: string, options: ListOptions) => {
      const list = await client.wakes.list(id);
      if (options.json === true) await printJson(list);
      else {
        const tableOf = (all: readonly Wake[]) => table(["ID", "KIND", "NEXT", "LAST", "LABEL"], all.map(rowOf));
        await printList(list.wakes, options, { id: (wake) => wake.id, table: tableOf });
        if (list.pending > 0) say(`${list.pending} have not reached the sandbox yet`);
      }
      return undefined;
    }),
  );
  return examples(command, ["torpor wake list base"]);
}

function removeCommand(): Command {
  const command = new Command("remove")
    .description("revoke wakes")
    .argument("<sandbox>", "id or name")
    .argument("<wake...>", "ids")
    .option(...jsonOption)
    .action(
      action((client, id: string, wakes: string[], options: Several) => forEach(wakes, options, (wake) => client.wakes.remove(id, wake))),
    );
  return examples(command, ["torpor wake remove base wk_aaaaaaaaaaaaaaaa"]);
}

async function tell({ id, nextAt, path, secret }: CreatedWake): Promise<void> {
  await print(`${path ?? id}\n`);
  if (nextAt !== null) say(`wakes at ${nextAt}`);
  if (path !== null) say(`wake ${id}: the address is told this once`);
  if (secret !== null) say(`secret: ${secret}`);
}

function rowOf({ id, kind, cron, timezone, nextAt, lastAt, label, signed }: Wake): string[] {
  const how = kind === "cron" ? `${oneLine(cron ?? "")} (${timezone})` : signed ? `${kind}, signed` : kind;
  return [id, how, nextAt ?? "-", lastAt ?? "-", label === null ? "-" : oneLine(label)];
}
