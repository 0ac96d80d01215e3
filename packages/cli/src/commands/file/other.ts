import { Command } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { printJson } from "../../leave.ts";
import { forEach, jsonOption, type Several } from "../../several.ts";
import { parseMode } from "./content.ts";
import { asUser, userOption } from "./user.ts";

interface User {
  readonly user?: string;
}

export function statCommand(): Command {
  const command = new Command("stat")
    .description("print what is at a path of a sandbox, as JSON")
    .argument("<sandbox>", "id or name")
    .argument("<path>", "the path")
    .option("--no-follow", "of a symbolic link itself")
    .option("--json", "as it does anyway")
    .addOption(userOption())
    .action(
      action(async (client, id: string, path: string, { follow, ...options }: User & { follow: boolean }) => {
        await printJson(await client.files.stat(id, path, { follow, ...asUser(options) }));
        return undefined;
      }),
    );
  return examples(command, ["torpor file stat base /etc/passwd"]);
}

export function makeCommand(): Command {
  const command = new Command("mkdir")
    .description("make directories in a sandbox")
    .argument("<sandbox>", "id or name")
    .argument("<path...>", "the directories")
    .option("-p, --parents", "those above too, and one that is there is fine")
    .option("--mode <octal>", "permission bits, such as 700; default 755", parseMode)
    .option(...jsonOption)
    .addOption(userOption())
    .action(
      action((client, id: string, paths: string[], options: User & Several & { parents?: boolean; mode?: number }) =>
        forEach(paths, options, (path) =>
          client.files.makeDirectory(id, {
            path,
            ...asUser(options),
            ...(options.parents === undefined ? {} : { parents: options.parents }),
            ...(options.mode === undefined ? {} : { mode: options.mode }),
          }),
        ),
      ),
    );
  return examples(command, ["torpor file mkdir -p base /srv/data"]);
}

export function moveCommand(): Command {
  const command = new Command("move")
    .alias("mv")
    .description("rename a file or directory of a sandbox")
    .argument("<sandbox>", "id or name")
    .argument("<from>", "what it is called")
    .argument("<to>", "what it is to be called")
    .option("--json", "print its entry as JSON")
    .addOption(userOption())
    .action(
      action(async (client, id: string, from: string, to: string, options: User & Several) => {
        const entry = await client.files.move(id, { from, to, ...asUser(options) });
        if (options.json === true) await printJson(entry);
        return undefined;
      }),
    );
  return examples(command, ["torpor file move base /root/a /root/b"]);
}

export function removeCommand(): Command {
  const command = new Command("remove")
    .alias("rm")
    .description("remove files and directories of a sandbox")
    .argument("<sandbox>", "id or name")
    .argument("<path...>", "what to remove")
    .option("-r, --recursive", "directories with all that is in them")
    .option(...jsonOption)
    .addOption(userOption())
    .action(
      action((client, id: string, paths: string[], { recursive, ...options }: User & Several & { recursive?: boolean }) =>
        forEach(paths, options, async (path) => {
          await client.files.remove(id, path, { ...(recursive === undefined ? {} : { recursive }), ...asUser(options) });
          return { path };
        }),
      ),
    );
  return examples(command, ["torpor file remove -r base /root/build"]);
}
