import type { SandboxUsage } from "@torpor/sdk";
import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { addListOptions, type ListOptions, printList } from "../list-output.ts";
import { table } from "../table.ts";

export function usageCommand(): Command {
  const list = new Command("usage").description("show what sandboxes have used so far, those removed in the last 90 days too");
  const command = addListOptions(list).action(
    action(async (client, options: ListOptions) => {
      await printList(await client.stats.usage(), options, {
        id: ({ sandboxId }) => sandboxId,
        table: (all) => table(head, all.map(rowOf)),
      });
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
