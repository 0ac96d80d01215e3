import { Command } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { forEach } from "../../several.ts";

export function removeCommand(): Command {
  const command = new Command("remove")
    .alias("rm")
    .description("remove snapshots and free what they alone hold; sandboxes made from them stay")
    .argument("<snapshot...>", "id or name")
    .option("-f, --force", "also when its record can't be read")
    .option("--json", "print the snapshot's record as JSON")
    .action(
      action(async (client, ids: string[], options: { force?: boolean; json?: boolean }) =>
        forEach(ids, options, (id) => client.snapshots.remove(id, options.force === true ? { force: true } : {})),
      ),
    );
  return examples(command, ["torpor snapshot remove warm"]);
}
