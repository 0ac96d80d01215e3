import { TorporError } from "@torpor/sdk";
import { Command } from "commander";
import { action } from "../action.ts";
import { download } from "../copy/download.ts";
import { type Place, parsePlace } from "../copy/place.ts";
import { upload } from "../copy/upload.ts";
import { examples } from "../examples.ts";

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
        await copy(from, to, { client, ...options });
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

async function copy(from: Place, to: Place, context: { client: Parameters<typeof upload>[2]["client"]; user?: string }): Promise<void> {
  if (from.sandbox === undefined && to.sandbox !== undefined) return upload(from.path, { sandbox: to.sandbox, path: to.path }, context);
  if (from.sandbox !== undefined && to.sandbox === undefined) return download({ sandbox: from.sandbox, path: from.path }, to.path, context);
  throw new TorporError("invalid_request", from.sandbox === undefined ? "neither path is in a sandbox" : "both paths are in a sandbox", {
    hint: "Write one of them as SANDBOX:PATH.",
  });
}
