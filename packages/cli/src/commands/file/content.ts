import { Command, InvalidArgumentError } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { print, printJson } from "../../leave.ts";
import { asUser, userOption } from "./user.ts";

export function readCommand(): Command {
  const command = new Command("read")
    .description("print a file of a sandbox, byte for byte")
    .argument("<sandbox>", "id or name")
    .argument("<path>", "the file")
    .addOption(userOption())
    .action(
      action(async (client, id: string, path: string, options: { user?: string }) => {
        const { content } = await client.files.read(id, path, asUser(options));
        for await (const chunk of content) await print(chunk);
        return undefined;
      }),
    );
  return examples(command, ["torpor file read base /etc/os-release"]);
}

export function writeCommand(): Command {
  const command = new Command("write")
    .description("write a file of a sandbox from the input, whole and at once")
    .argument("<sandbox>", "id or name")
    .argument("<path>", "the file")
    .option("--mode <octal>", "permission bits, such as 600; default 644", parseMode)
    .option("-p, --parents", "make the directories above it")
    .option("--json", "print the file's entry as JSON")
    .addOption(userOption())
    .action(
      action(async (client, id: string, path: string, options: { mode?: number; parents?: boolean; user?: string; json?: boolean }) => {
        const entry = await client.files.write(id, path, process.stdin, {
          ...asUser(options),
          ...(options.mode === undefined ? {} : { mode: options.mode }),
          ...(options.parents === undefined ? {} : { parents: options.parents }),
        });
        if (options.json === true) await printJson(entry);
        return undefined;
      }),
    );
  return examples(command, ["torpor file write --mode 600 base /root/.netrc <netrc"]);
}

export function parseMode(text: string): number {
  if (!/^[0-7]{1,4}$/.test(text)) throw new InvalidArgumentError("permission bits in octal are needed, such as 644.");
  return Number.parseInt(text, 8);
}
