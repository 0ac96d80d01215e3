import type { Sandbox } from "@torpor/sdk";
import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { print, printJson } from "../leave.ts";
import { table } from "../table.ts";
import { formatDuration } from "../values/duration.ts";
import { formatSize } from "../values/size.ts";

export function listCommand(): Command {
  const command = new Command("list")
    .alias("ls")
    .description("list all sandboxes, in every state")
    .option("-q, --quiet", "print ids only")
    .option("-a, --all", "all states, which is the default")
    .option("--json", "print the records as JSON")
    .action(
      action(async (client, options: { quiet?: boolean; json?: boolean }) => {
        const sandboxes = await client.list();
        if (options.json === true) await printJson(sandboxes);
        else if (options.quiet === true) await print(sandboxes.map(({ id }) => `${id}\n`).join(""));
        else await print(table(["ID", "NAME", "IMAGE", "STATE", "UPTIME", "MEMORY"], sandboxes.map(rowOf)));
        return undefined;
      }),
    );
  return examples(command, ["torpor list", "torpor remove --force $(torpor list -q)"]);
}

function rowOf(sandbox: Sandbox): string[] {
  const { id, name, image, state, startedAt, resources } = sandbox;
  const uptime = state === "running" && startedAt !== null ? formatDuration(Date.now() - Date.parse(startedAt)) : "-";
  return [id, name, image.reference, state, uptime, formatSize(resources.memoryBytes)];
}
