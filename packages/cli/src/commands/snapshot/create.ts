import type { CreateSnapshotRequest } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { oneLine, say } from "../../failure.ts";
import { print, printJson } from "../../leave.ts";
import { resultOf } from "../../several.ts";
import { expiryIn } from "../../values/duration.ts";
import { addLabel } from "../../values/pair.ts";

interface Options {
  name?: string;
  filesOnly?: boolean;
  label?: Readonly<Record<string, string>>;
  pin?: boolean;
  expires?: string;
  json?: boolean;
}

export function createCommand(): Command {
  const command = new Command("create")
    .description("keep the state of a sandbox, with its memory; prints the snapshot's id")
    .argument("<sandbox>", "id or name; a running one is frozen for a moment, a paused or stopped one is not woken")
    .option("--name <name>", "name of the snapshot; default: a generated one")
    .option("--files-only", "keep files only: what is made from it boots fresh")
    .option("--label <name=value>", "label; repeatable", addLabel)
    .option("--pin", "never expire, and refuse to be removed")
    .option("--expires <duration>", "remove it after so long, such as 7d; default: never", expiryIn)
    .option("--json", "print the outcome as JSON")
    .action(
      action(async (client, id: string, options: Options) => {
        const answer = await client.snapshot(id, requestOf(options));
        const { snapshot } = resultOf(answer) as { readonly snapshot: { readonly id: string; readonly name: string } };
        say(`kept ${id} as snapshot ${oneLine(snapshot.name)}`);
        await (options.json === true ? printJson(answer) : print(`${snapshot.id}\n`));
        return undefined;
      }),
    );
  return examples(command, [
    "torpor snapshot create --name warm base",
    "torpor snapshot create --files-only --expires 7d --label step=3 base",
  ]);
}

function requestOf({ name, filesOnly, label, pin, expires }: Options): CreateSnapshotRequest {
  return {
    ...(name === undefined ? {} : { name }),
    ...(filesOnly === true ? { memory: false } : {}),
    ...(label === undefined ? {} : { labels: label }),
    ...(pin === true ? { pinned: true } : {}),
    ...(expires === undefined ? {} : { expiresAt: expires }),
  };
}
