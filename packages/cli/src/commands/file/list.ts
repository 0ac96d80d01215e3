import type { Entry } from "@torpor/sdk/calls";
import { Command, InvalidArgumentError } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { addListOptions, type ListOptions, printList } from "../../list-output.ts";
import { table } from "../../table.ts";
import { asUser, userOption } from "./user.ts";

export function listCommand(): Command {
  const command = addListOptions(
    new Command("list")
      .alias("ls")
      .description("list a directory of a sandbox")
      .argument("<sandbox>", "id or name")
      .argument("<path>", "the directory")
      .option("--depth <number>", "directories in it too, so deep; default 1", parseDepth)
      .addOption(userOption()),
    "paths",
  ).action(
    action(async (client, id: string, path: string, options: ListOptions & { depth?: number; user?: string }) => {
      const depth = options.depth === undefined ? {} : { depth: options.depth };
      const entries = await client.files.list(id, path, { ...depth, ...asUser(options) });
      await printList(entries, options, {
        id: ({ path: whole }) => whole,
        table: (all) => table(["MODE", "OWNER", "SIZE", "MODIFIED", "PATH"], all.map(rowOf)),
      });
      return undefined;
    }),
  );
  return examples(command, ["torpor file list base /root", "torpor file list --format '{size} {path}' base /var/log"]);
}

const kinds: Readonly<Record<Entry["type"], string>> = { file: "-", directory: "d", symlink: "l", other: "?" };

function rowOf({ type, mode, owner, group, size, modifiedAt, path, symlinkTarget }: Entry): string[] {
  const name = symlinkTarget === null ? path : `${path} -> ${symlinkTarget}`;
  return [`${kinds[type]}${mode.toString(8).padStart(4, "0")}`, `${owner}:${group}`, String(size), modifiedAt, name];
}

function parseDepth(text: string): number {
  if (!/^\d{1,2}$/.test(text) || Number(text) > 64) throw new InvalidArgumentError(`${JSON.stringify(text)} is no whole number up to 64.`);
  return Number(text);
}
