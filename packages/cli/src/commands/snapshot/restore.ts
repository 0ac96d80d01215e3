import { Command } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { oneLine, say } from "../../failure.ts";
import { print, printJson } from "../../leave.ts";
import { resultOf } from "../../several.ts";

export function restoreCommand(): Command {
  const command = new Command("restore")
    .description("put a paused or stopped sandbox back to a snapshot; the files and memory that it has are given up")
    .argument("<sandbox>", "id or name")
    .argument("<snapshot>", "id or name")
    .option("--files-only", "bring files back only")
    .option("--json", "print the outcome as JSON")
    .action(
      action(async (client, id: string, snapshot: string, options: { filesOnly?: boolean; json?: boolean }) => {
        const answer = await client.restore(id, { snapshot, ...(options.filesOnly === true ? { memory: false } : {}) });
        const next = resultOf(answer).memory === true ? `torpor resume ${id} goes on with its memory` : "it boots fresh";
        say(`restored ${id} to ${oneLine(snapshot)}: it is ${answer.sandbox?.state ?? "gone"}, ${next}`);
        await (options.json === true ? printJson(answer) : print(`${id}\n`));
        return undefined;
      }),
    );
  return examples(command, ["torpor snapshot restore base warm"]);
}
