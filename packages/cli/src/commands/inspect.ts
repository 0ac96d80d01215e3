import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { printJson } from "../leave.ts";

export function inspectCommand(): Command {
  const command = new Command("inspect")
    .description("print a sandbox's record as JSON; of several, a list")
    .argument("<sandbox...>", "id or name")
    .option("--json", "JSON, which is the default")
    .action(
      action(async (client, ids: string[]) => {
        const records = await Promise.all(ids.map((id) => client.get(id)));
        await printJson(ids.length === 1 ? records[0] : records);
        return undefined;
      }),
    );
  return examples(command, ["torpor inspect base"]);
}
