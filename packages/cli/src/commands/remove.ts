import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { forEach } from "../several.ts";

export function removeCommand(): Command {
  const command = new Command("remove")
    .alias("rm")
    .description("remove a sandbox and free everything it had")
    .argument("<sandbox...>", "id or name")
    .option("-f, --force", "also when it is running or paused")
    .option("--json", "print the outcome as JSON")
    .action(
      action(async (client, ids: string[], options: { force?: boolean; json?: boolean }) =>
        forEach(ids, options, (id) => client.remove(id, options.force === true ? { force: true } : {})),
      ),
    );
  return examples(command, ["torpor remove base", "torpor remove --force try-a try-b base"]);
}
