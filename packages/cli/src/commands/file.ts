import { Command } from "commander";
import { examples } from "../examples.ts";
import { readCommand, writeCommand } from "./file/content.ts";
import { listCommand } from "./file/list.ts";
import { makeCommand, moveCommand, removeCommand, statCommand } from "./file/other.ts";
import { watchCommand } from "./file/watch.ts";

export function fileCommand(): Command {
  const command = new Command("file").description("look at, read, write and change a sandbox's files; cp copies whole directories");
  for (const inner of [
    listCommand(),
    statCommand(),
    readCommand(),
    writeCommand(),
    makeCommand(),
    moveCommand(),
    removeCommand(),
    watchCommand(),
  ])
    command.addCommand(inner);
  return examples(command, ["torpor file list base /root", "torpor file read base /etc/os-release"]);
}
