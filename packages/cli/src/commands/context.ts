import { Command } from "commander";
import { find, local, readContexts, writeContexts } from "../contexts.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { print } from "../leave.ts";
import { addListOptions, type ListOptions, printList } from "../list-output.ts";
import { table } from "../table.ts";

export function contextCommand(): Command {
  const command = new Command("context")
    .description("choose the daemon that commands speak to: this host's, or one that torpor login added")
    .addCommand(list())
    .addCommand(use())
    .addCommand(remove());
  return examples(command, ["torpor context list", "torpor context use local"]);
}

function list(): Command {
  const list = new Command("list").alias("ls").description("list the daemons that can be chosen");
  const command = addListOptions(list, "names").action(async (options: ListOptions) => {
    const { current = local, known } = readContexts(process.env);
    const all = [{ name: local, url: null }, ...Object.entries(known).map(([name, { url }]) => ({ name, url }))];
    const shown = all.map((one) => ({ ...one, current: one.name === current }));
    await printList(shown, options, {
      id: ({ name }) => name,
      table: (each) =>
        table(
          ["NAME", "URL", "CURRENT"],
          each.map(({ name, url, current: is }) => [name, url ?? "this host's socket", is ? "*" : ""]),
        ),
    });
  });
  return examples(command, ["torpor context list"]);
}

function use(): Command {
  const command = new Command("use")
    .description("speak to another daemon from now on; TORPOR_CONTEXT does it for one command")
    .argument("<context>", "its name; local for the daemon of this host")
    .action(async (name: string) => {
      const contexts = readContexts(process.env);
      if (name !== local) find(contexts, name);
      writeContexts(process.env, { ...contexts, current: name === local ? undefined : name });
      await print(`${name}\n`);
    });
  return examples(command, ["torpor context use local"]);
}

function remove(): Command {
  const command = new Command("remove")
    .alias("rm")
    .description("forget a daemon and its token, which stays valid until it is revoked")
    .argument("<context>", "its name")
    .action(async (name: string) => {
      const contexts = readContexts(process.env);
      find(contexts, name);
      const { [name]: _gone, ...known } = contexts.known;
      const wasCurrent = contexts.current === name;
      writeContexts(process.env, { current: wasCurrent ? undefined : contexts.current, known });
      await print(`${name}\n`);
      if (wasCurrent) say("commands speak to the daemon of this host again");
    });
  return examples(command, ["torpor context remove torpor.example.org"]);
}
