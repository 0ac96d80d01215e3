import { TorporError } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { print, printJson } from "../leave.ts";
import { ownVersion } from "../own-version.ts";

export function versionCommand(): Command {
  const command = new Command("version")
    .description("print the versions of this command and of the daemon")
    .option("--json", "print JSON")
    .action(
      action(async (client, options: { json?: boolean }) => {
        const daemon = await client.version().then(
          ({ version }) => version,
          (error: unknown) => {
            if (error instanceof TorporError && error.code === "daemon_unreachable") return null;
            throw error;
          },
        );
        const versions = { cli: ownVersion(), daemon };
        await (options.json === true ? printJson(versions) : print(`torpor ${versions.cli}\ntorpord ${daemon ?? "not running"}\n`));
        return undefined;
      }),
    );
  return examples(command, ["torpor version"]);
}
