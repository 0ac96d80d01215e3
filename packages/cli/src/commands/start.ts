import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { forEach } from "../several.ts";

export function startCommand(): Command {
  const command = new Command("start")
    .description("boot a stopped sandbox fresh from its files")
    .argument("<sandbox...>", "id or name")
    .option("--json", "print the outcome as JSON")
    .action(action(async (client, ids: string[], options: { json?: boolean }) => forEach(ids, options, (id) => client.start(id))));
  return examples(command, ["torpor start base"]);
}
