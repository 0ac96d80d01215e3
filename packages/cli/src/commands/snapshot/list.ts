import type { Snapshot } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { addListOptions, type ListOptions, printList } from "../../list-output.ts";
import { table } from "../../table.ts";
import { formatDuration } from "../../values/duration.ts";
import { formatSize } from "../../values/size.ts";

export function listCommand(): Command {
  const command = addListOptions(new Command("list").alias("ls").description("list all snapshots, oldest first")).action(
    action(async (client, options: ListOptions) => {
      await printList(await client.snapshots.list(), options, {
        id: ({ id }) => id,
        table: (all) => table(["ID", "NAME", "OF", "KEEPS", "MEMORY", "AGE", "EXPIRES"], all.map(rowOf)),
      });
      return undefined;
    }),
  );
  return examples(command, ["torpor snapshot list"]);
}

function rowOf(snapshot: Snapshot): string[] {
  const { id, name, source, checkpoint, failure, createdAt } = snapshot;
  const keeps = failure !== null ? "unreadable" : checkpoint === null ? "files" : "memory";
  const memory = checkpoint === null ? "-" : formatSize(checkpoint.storedBytes);
  return [id, name, source.name, keeps, memory, formatDuration(Date.now() - Date.parse(createdAt)), expiryOf(snapshot)];
}

function expiryOf({ pinned, expiresAt }: Snapshot): string {
  if (pinned) return "pinned";
  return expiresAt === null ? "never" : `in ${formatDuration(Date.parse(expiresAt) - Date.now())}`;
}
