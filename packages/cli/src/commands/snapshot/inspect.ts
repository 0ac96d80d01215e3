import { Command } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { printRecords } from "../../several.ts";

export function inspectCommand(): Command {
  const command = new Command("inspect")
    .description("print a snapshot's record as JSON; of several, a list")
    .argument("<snapshot...>", "id or name")
    .option("--json", "JSON, which is the default")
    .action(action(async (client, ids: string[]) => printRecords(ids, (id) => client.snapshots.get(id))));
  return examples(command, ["torpor snapshot inspect warm"]);
}
