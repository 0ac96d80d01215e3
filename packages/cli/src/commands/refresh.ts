import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { forEach } from "../several.ts";
import { parseDuration } from "../values/duration.ts";

export function refreshCommand(): Command {
  const command = new Command("refresh")
    .description("let a running sandbox run on: its ttl begins anew, up to its hard ttl, and it counts as used")
    .argument("<sandbox...>", "id or name")
    .option("--ttl <duration>", "it runs at least so long from now; default its ttl", parseDuration)
    .option("--json", "print the record as JSON")
    .action(
      action(async (client, ids: string[], { ttl, json }: { ttl?: number; json?: boolean }) =>
        forEach(ids, json === undefined ? {} : { json }, (id) => client.refresh(id, ttl === undefined ? {} : { ttlMs: ttl })),
      ),
    );
  return examples(command, ["torpor refresh base", "torpor refresh --ttl 2h base"]);
}
