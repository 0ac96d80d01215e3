import { Command } from "commander";
import { action } from "../action.ts";
import { drawTree } from "../draw-tree.ts";
import { examples } from "../examples.ts";
import { print, printJson } from "../leave.ts";

export function treeCommand(): Command {
  const command = new Command("tree")
    .description("print what was forked from what; removed parents too, as long as others come from them")
    .argument("[sandbox]", "id or name: its family only")
    .option("--json", "print the members as JSON, parents before their children")
    .action(
      action(async (client, sandbox: string | undefined, options: { json?: boolean }) => {
        const members = await client.tree(sandbox);
        await (options.json === true ? printJson(members) : print(drawTree(members)));
        return undefined;
      }),
    );
  return examples(command, ["torpor tree", "torpor tree try-a"]);
}
