import type { Snapshot } from "@torpor/sdk";
import { Command } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { print, printJson } from "../../leave.ts";
import { table } from "../../table.ts";
import { formatDuration } from "../../values/duration.ts";
import { formatSize } from "../../values/size.ts";

export function listCommand(): Command {
  const command = new Command("list")
    .alias("ls")
    .description("list all snapshots, oldest first")
    .option("-q, --quiet", "print ids only")
    .option("--json", "print the records as JSON")
    .action(
      action(async (client, options: { quiet?: boolean; json?: boolean }) => {
        const snapshots = await client.snapshots.list();
        if (options.json === true) await printJson(snapshots);
        else if (options.quiet === true) await print(snapshots.map(({ id }) => `${id}\n`).join(""));
        else await print(table(["ID", "NAME", "OF", "KEEPS", "MEMORY", "AGE", "EXPIRES"], snapshots.map(rowOf)));
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
