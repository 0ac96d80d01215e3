import { Command, InvalidArgumentError } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { print, printJson } from "../../leave.ts";
import { addLabel } from "../../values/pair.ts";

export function labelCommand(): Command {
  const command = new Command("label")
    .description("set or take away labels of a snapshot; prints its id")
    .argument("<snapshot>", "id or name")
    .argument("<label...>", "name=value sets a label, name- takes it away", changeLabel)
    .option("--json", "print the snapshot's record as JSON")
    .action(
      action(async (client, id: string, labels: Readonly<Record<string, string | null>>, options: { json?: boolean }) => {
        const snapshot = await client.snapshots.update(id, { labels: { ...labels } });
        await (options.json === true ? printJson(snapshot) : print(`${snapshot.id}\n`));
        return undefined;
      }),
    );
  return examples(command, ["torpor snapshot label warm step=3 owner=me", "torpor snapshot label warm step-"]);
}

function changeLabel(text: string, earlier: Readonly<Record<string, string | null>> = {}): Readonly<Record<string, string | null>> {
  if (text.includes("=")) return { ...earlier, ...addLabel(text) };
  if (!/^.+-$/.test(text)) throw new InvalidArgumentError(`${JSON.stringify(text)} is no change of a label: write NAME=VALUE or NAME-.`);
  return { ...earlier, [text.slice(0, -1)]: null };
}
