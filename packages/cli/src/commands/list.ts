import type { SandboxState } from "@torpor/sdk/calls";
import { Command, Option } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { addListOptions, type ListOptions, printList } from "../list-output.ts";
import { sandboxStates, sandboxTable } from "../sandbox-table.ts";
import { addLabel } from "../values/pair.ts";

interface Options extends ListOptions {
  state?: SandboxState[];
  label?: Readonly<Record<string, string>>;
}

export function listCommand(): Command {
  const command = addListOptions(new Command("list").alias("ls").description("list all sandboxes, in every state"))
    .option("-a, --all", "all states, which is the default")
    .addOption(new Option("--state <state...>", "only those in these states").choices(sandboxStates))
    .option("--label <name=value>", "only those with this label; repeatable", addLabel)
    .action(
      action(async (client, { state, label, ...options }: Options) => {
        const sandboxes = await client.list({
          ...(state === undefined ? {} : { states: state }),
          ...(label === undefined ? {} : { labels: label }),
        });
        await printList(sandboxes, options, { id: ({ id }) => id, table: sandboxTable });
        return undefined;
      }),
    );
  return examples(command, [
    "torpor list",
    "torpor list --format '{name} {state} {image.reference}'",
    "torpor list --state paused --label owner=me",
    "torpor remove --force $(torpor list -q)",
  ]);
}
