import type { ForkRequest } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { failWith, oneLine, say } from "../failure.ts";
import { print, printJson } from "../leave.ts";
import { resultOf } from "../several.ts";
import { addTimeOptions, type TimeOptions, timeRequestOf } from "../time-options.ts";
import { parseCount } from "../values/count.ts";
import { addLabel, addVariable } from "../values/pair.ts";
import { type WaitCapacity, waitCapacityOption, waitingForRoom } from "../values/wait-capacity.ts";

interface Options extends TimeOptions, WaitCapacity {
  name?: readonly string[];
  count?: number;
  filesOnly?: boolean;
  env?: Readonly<Record<string, string>>;
  label?: Readonly<Record<string, string>>;
  json?: boolean;
}

interface Child {
  readonly id: string;
  readonly name: string;
  readonly error: { readonly message: string; readonly hint?: string } | null;
}

export function forkCommand(): Command {
  const command = addTimeOptions(new Command("fork"))
    .description("copy a running sandbox with its memory; prints the id of each child")
    .argument("<sandbox>", "id or name")
    .option("--name <name>", "name of the child; with --count the children are <name>-1, <name>-2, …; repeatable: a child each", addName)
    .option("-n, --count <number>", "children; default 1, or one for each --name", parseCount)
    .option("--files-only", "copy files only: the children boot fresh")
    .addOption(waitCapacityOption())
    .option("-e, --env <name=value>", "environment variable of the children's new commands; repeatable", addVariable)
    .option("--label <name=value>", "label of the children, over the source's; repeatable", addLabel)
    .option("--json", "print the outcome as JSON")
    .action(
      action(async (client, id: string, options: Options) => {
        const answer = await client.fork(id, requestOf(options), waitingForRoom(options));
        const children = (resultOf(answer).children ?? []) as readonly Child[];
        const made = children.filter(({ error }) => error === null);
        if (options.json === true) await printJson(answer);
        else await print(made.map((child) => `${child.id}\n`).join(""));
        for (const child of made) say(`forked ${id} into ${oneLine(child.name)}`);
        const failed = children.filter(({ error }) => error !== null);
        for (const { name, error } of failed) failWith(new Error(`child ${name}: ${error?.message}`));
        return failed.length === 0 ? 0 : 1;
      }),
    );
  return examples(command, [
    "torpor fork --name try-a base",
    "torpor fork --count 8 --name worker base",
    "torpor fork --name plan-a --name plan-b --label task=42 -e ATTEMPT=2 base",
    "torpor fork --ttl 10m --on-timeout remove base",
  ]);
}

function addName(name: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, name];
}

function requestOf({ name: given = [], count, filesOnly, env, label, ...rest }: Options): ForkRequest {
  const [name, ...others] = given;
  return {
    ...(name === undefined ? {} : others.length === 0 ? { name } : { names: [...given] }),
    ...(count === undefined ? {} : { count }),
    ...(filesOnly === true ? { memory: false } : {}),
    ...(env === undefined ? {} : { env }),
    ...(label === undefined ? {} : { labels: label }),
    ...timeRequestOf(rest),
  };
}
