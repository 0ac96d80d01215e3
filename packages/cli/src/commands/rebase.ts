import type { OperationAnswer, TorporClient } from "@torpor/sdk/calls";
import { TorporError } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { oneLine, say } from "../failure.ts";
import { withProgress } from "../image-progress.ts";
import { print, printJson } from "../leave.ts";
import { resultOf } from "../several.ts";
import { parseDuration } from "../values/duration.ts";

interface Options {
  rollback?: boolean;
  keep?: number;
  json?: boolean;
}

export function rebaseCommand(): Command {
  const command = new Command("rebase")
    .description("put the files of a paused or stopped sandbox over a newer image; its next start boots fresh")
    .argument("<sandbox>", "id or name")
    .argument("[image]", "reference of an image, fetched if it is not here")
    .option("--rollback", "take the last rebase back, with the memory that there was")
    .option("--keep <duration>", "how long a rollback is possible; default 7d", parseDuration)
    .option("--json", "print the outcome as JSON")
    .action(
      action(async (client, id: string, image: string | undefined, options: Options) => {
        if ((image === undefined) !== (options.rollback === true)) {
          throw new TorporError("invalid_request", "either an image or --rollback is needed, and not both");
        }
        const answer = image === undefined ? await client.rollback(id) : await rebaseFetching(client, id, image, options.keep);
        say(image === undefined ? `took the rebase of ${id} back` : `rebased ${id}: ${told(answer)}`);
        await (options.json === true ? printJson(answer) : print(`${id}\n`));
        return undefined;
      }),
    );
  return examples(command, ["torpor rebase base python:3.13", "torpor rebase --rollback base"]);
}

async function rebaseFetching(client: TorporClient, id: string, image: string, keep: number | undefined): Promise<OperationAnswer> {
  const request = { image, ...(keep === undefined ? {} : { rollbackMs: keep }) };
  try {
    return await client.rebase(id, request);
  } catch (error) {
    if (!(error instanceof TorporError) || error.code !== "image_not_found") throw error;
  }
  await withProgress((progress) => client.images.pull({ reference: image }, progress));
  return client.rebase(id, request);
}

function told(answer: OperationAnswer): string {
  const { rollback } = resultOf(answer) as { readonly rollback: { readonly name: string; readonly expiresAt: string } };
  return `what was before is kept as snapshot ${oneLine(rollback.name)} until ${rollback.expiresAt}`;
}
