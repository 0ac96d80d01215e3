import { Command } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { oneLine } from "../../failure.ts";
import { print } from "../../leave.ts";

export function watchCommand(): Command {
  const command = new Command("watch")
    .description("print what happens to a file or in a directory of a sandbox, until Ctrl-C")
    .argument("<sandbox>", "id or name")
    .argument("<path>", "the file or directory")
    .option("-r, --recursive", "directories in it too, those made later as well")
    .option("--json", "print each change as JSON, one a line")
    .action(
      action(async (client, id: string, path: string, { recursive, json }: { recursive?: boolean; json?: boolean }) => {
        for await (const change of await client.files.watch(id, path, recursive === undefined ? {} : { recursive })) {
          const from = change.from === null ? "" : ` from ${change.from}`;
          await print(json === true ? `${JSON.stringify(change)}\n` : `${oneLine(`${change.change} ${change.path}${from}`)}\n`);
        }
        return undefined;
      }),
    );
  return examples(command, ["torpor file watch -r base /root/src"]);
}
