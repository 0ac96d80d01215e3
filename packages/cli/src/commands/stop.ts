import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { forEach } from "../several.ts";
import { parseDuration } from "../values/duration.ts";

export function stopCommand(): Command {
  const command = new Command("stop")
    .description("end a sandbox's processes and delete its checkpoint; files stay")
    .argument("<sandbox...>", "id or name")
    .option("--grace <duration>", "time between TERM and KILL; default 10s", parseDuration)
    .option("--json", "print the outcome as JSON")
    .action(
      action(async (client, ids: string[], options: { grace?: number; json?: boolean }) =>
        forEach(ids, options, (id) => client.stop(id, options.grace === undefined ? {} : { graceMs: options.grace })),
      ),
    );
  return examples(command, ["torpor stop base", "torpor stop --grace 1s a b"]);
}
