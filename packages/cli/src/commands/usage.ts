import type { SandboxUsage } from "@torpor/sdk";
import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { print, printJson } from "../leave.ts";
import { table } from "../table.ts";

export function usageCommand(): Command {
  const command = new Command("usage")
    .description("show what sandboxes have used so far, those removed in the last 90 days too")
    .option("--json", "print JSON")
    .action(
      action(async (client, { json }: { json?: boolean }) => {
        const usage = await client.stats.usage();
        await (json === true ? printJson(usage) : print(table(head, usage.map(rowOf))));
        return undefined;
      }),
    );
  return examples(command, ["torpor usage", "torpor usage --json"]);
}

const head = ["NAME", "ID", "RUNNING H", "CPU H", "MEMORY GIB H", "STORED GIB H", "REMOVED"];

function rowOf({ name, sandboxId, removedAt, ...used }: SandboxUsage): string[] {
  const hours = [used.runningSeconds, used.cpuSeconds, used.memoryGibSeconds, used.storedGibSeconds];
  return [name, sandboxId, ...hours.map((seconds) => (seconds / 3600).toFixed(3)), removedAt ?? "-"];
}
