import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { print, printJson } from "../leave.ts";
import { addLabelChange, type LabelChanges } from "../values/label-change.ts";

export function labelCommand(): Command {
  const command = new Command("label")
    .description("set or take away labels of a sandbox; prints its name or id as it was given")
    .argument("<sandbox>", "id or name")
    .argument("<label...>", "name=value sets a label, name- takes it away", addLabelChange)
    .option("--json", "print the sandbox's record as JSON")
    .action(
      action(async (client, id: string, labels: LabelChanges, options: { json?: boolean }) => {
        const sandbox = await client.update(id, { labels: { ...labels } });
        await (options.json === true ? printJson(sandbox) : print(`${id}\n`));
        return undefined;
      }),
    );
  return examples(command, ["torpor label base step=3 owner=me", "torpor label base step-"]);
}
