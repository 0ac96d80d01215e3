import { type TorporClient, TorporError } from "@torpor/sdk/calls";
import { type CopyOptions, download, upload } from "@torpor/sdk/copy";
import { Command } from "commander";
import { action } from "../action.ts";
import { type Place, parsePlace } from "../copy-place.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { write } from "../leave.ts";

export function cpCommand(): Command {
  const command = new Command("cp")
    .description("copy a file or directory into a sandbox or out of it, as docker cp does")
    .argument("<source>", "SANDBOX:PATH, a path here, or - for a tar stream from the input")
    .argument("<target>", "SANDBOX:PATH, a path here, or - for a tar stream to the output")
    .option("-u, --user <user>", "user of the sandbox to act as; default root")
    .action(
      action(async (client, source: string, target: string, options: { user?: string }) => {
        const from = parsePlace(source);
        const to = parsePlace(target);
        await copy(client, from, to, { ...options, onNotice: (text) => say(`torpor: ${text}`) });
        return undefined;
      }),
    );
  command.addHelpText(
    "after",
    `
A file: to a directory that is there it keeps its name, else the target is its new name.
A directory: to a directory that is there it keeps its name, and SOURCE/. copies what is in it; else the target is made and has what is in it.
What is there is merged with. A copy out of a sandbox that fails leaves nothing half-written; it never writes through a symbolic link.
A path here with a colon needs ./ in front.`,
  );
  return examples(command, [
    "torpor cp ./src base:/root/src",
    "torpor cp base:/root/report.pdf .",
    "torpor cp base:/etc - | tar t",
    "tar c src | torpor cp - base:/root",
  ]);
}

async function copy(client: TorporClient, from: Place, to: Place, options: CopyOptions): Promise<void> {
  if (from.sandbox === undefined && to.sandbox !== undefined) return copyIn(client, from.path, { ...to, sandbox: to.sandbox }, options);
  if (from.sandbox !== undefined && to.sandbox === undefined) return copyOut(client, { ...from, sandbox: from.sandbox }, to.path, options);
  throw new TorporError("invalid_request", from.sandbox === undefined ? "neither path is in a sandbox" : "both paths are in a sandbox", {
    hint: "Write one of them as SANDBOX:PATH.",
  });
}

async function copyIn(client: TorporClient, source: string, target: Inside, options: CopyOptions): Promise<void> {
  if (source === "-") await client.files.writeArchive(target.sandbox, target.path, process.stdin, asUser(options));
  else await upload(client, source, target, options);
}

async function copyOut(client: TorporClient, source: Inside, target: string, options: CopyOptions): Promise<void> {
  if (target !== "-") return download(client, source, target, options);
  for await (const chunk of await client.files.readArchive(source.sandbox, source.path, asUser(options)))
    await write(process.stdout, chunk);
}

type Inside = Place & { readonly sandbox: string };

function asUser({ user }: CopyOptions): { user?: string } {
  return user === undefined ? {} : { user };
}
