import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { forEach } from "../several.ts";
import { type WaitCapacity, waitCapacityOption, waitingForRoom } from "../values/wait-capacity.ts";

export function startCommand(): Command {
  const command = new Command("start")
    .description("boot a stopped sandbox fresh from its files")
    .argument("<sandbox...>", "id or name")
    .addOption(waitCapacityOption())
    .option("--json", "print the outcome as JSON")
    .action(
      action(async (client, ids: string[], options: WaitCapacity & { json?: boolean }) =>
        forEach(ids, options, (id) => client.start(id, waitingForRoom(options))),
      ),
    );
  return examples(command, ["torpor start base"]);
}
