import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { forEach } from "../several.ts";
import { addTimeOptions, type TimeOptions, timeRequestOf } from "../time-options.ts";

export function updateCommand(): Command {
  const command = addTimeOptions(
    new Command("update").description("change how a sandbox's life is bounded in time").argument("<sandbox...>", "id or name"),
  )
    .option("--json", "print the record as JSON")
    .action(
      action(async (client, ids: string[], options: TimeOptions & { json?: boolean }) =>
        forEach(ids, options, (id) => client.update(id, timeRequestOf(options))),
      ),
    );
  return examples(command, ["torpor update --ttl 2h --idle none base", "torpor update --auto-resume a b"]);
}
