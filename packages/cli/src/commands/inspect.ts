import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { print } from "../leave.ts";
import type { ListOptions } from "../list-output.ts";
import { printRecords } from "../several.ts";
import { parseTemplate } from "../template.ts";

export function inspectCommand(): Command {
  const command = new Command("inspect")
    .description("print a sandbox's record as JSON; of several, a list")
    .argument("<sandbox...>", "id or name")
    .option("--format <template>", "print a line for each in place of JSON, such as '{name} {state}'", parseTemplate)
    .option("--json", "JSON, which is the default")
    .action(
      action(async (client, ids: string[], { format }: Pick<ListOptions, "format">) => {
        if (format === undefined) return printRecords(ids, (id) => client.get(id));
        for (const record of await Promise.all(ids.map((id) => client.get(id)))) await print(`${format(record)}\n`);
        return undefined;
      }),
    );
  return examples(command, ["torpor inspect base", "torpor inspect --format '{state}' base"]);
}
