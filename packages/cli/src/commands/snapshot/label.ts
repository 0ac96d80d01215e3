import { Command } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { print, printJson } from "../../leave.ts";
import { addLabelChange, type LabelChanges } from "../../values/label-change.ts";

export function labelCommand(): Command {
  const command = new Command("label")
    .description("set or take away labels of a snapshot; prints its id")
    .argument("<snapshot>", "id or name")
    .argument("<label...>", "name=value sets a label, name- takes it away", addLabelChange)
    .option("--json", "print the snapshot's record as JSON")
    .action(
      action(async (client, id: string, labels: LabelChanges, options: { json?: boolean }) => {
        const snapshot = await client.snapshots.update(id, { labels: { ...labels } });
        await (options.json === true ? printJson(snapshot) : print(`${snapshot.id}\n`));
        return undefined;
      }),
    );
  return examples(command, ["torpor snapshot label warm step=3 owner=me", "torpor snapshot label warm step-"]);
}
