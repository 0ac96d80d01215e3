import { Command } from "commander";
import { examples } from "../examples.ts";
import { createCommand } from "./snapshot/create.ts";
import { inspectCommand } from "./snapshot/inspect.ts";
import { labelCommand } from "./snapshot/label.ts";
import { listCommand } from "./snapshot/list.ts";
import { pinCommand, unpinCommand } from "./snapshot/pin.ts";
import { removeCommand } from "./snapshot/remove.ts";
import { restoreCommand } from "./snapshot/restore.ts";

export function snapshotCommand(): Command {
  const command = new Command("snapshot")
    .description("keep states of sandboxes under names, and go back to them")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(inspectCommand())
    .addCommand(labelCommand())
    .addCommand(pinCommand())
    .addCommand(unpinCommand())
    .addCommand(removeCommand())
    .addCommand(restoreCommand());
  return examples(command, ["torpor snapshot create --name warm base", "torpor create --snapshot warm --count 3", "torpor snapshot list"]);
}
