import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { print, printJson } from "../leave.ts";
import { table } from "../table.ts";

export function capabilitiesCommand(): Command {
  const command = new Command("capabilities")
    .description("show what the daemon's engine can do, and why not")
    .option("--json", "print JSON")
    .action(
      action(async (client, options: { json?: boolean }) => {
        const answer = await client.capabilities();
        if (options.json === true) return printJson(answer).then(() => undefined);
        const rows = Object.entries(answer.capabilities).map(([name, { supported, reason }]) => [name, supported ? "yes" : "no", reason]);
        await print(`engine ${answer.engine}\n${table(["CAPABILITY", "SUPPORTED", "REASON"], rows)}`);
        return undefined;
      }),
    );
  return examples(command, ["torpor capabilities"]);
}
