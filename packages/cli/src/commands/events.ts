import type { Event, TorporClient } from "@torpor/sdk/calls";
import { Command, InvalidArgumentError } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { oneLine } from "../failure.ts";
import { print } from "../leave.ts";
import { addText } from "../values/list.ts";

interface Options {
  follow?: boolean;
  after?: number;
  type?: readonly string[];
  json?: boolean;
}

export function eventsCommand(): Command {
  const command = new Command("events")
    .description("print what happened to sandboxes, oldest first, and what happens from now on")
    .argument("[sandbox]", "only of one: its id or name, or the id of a removed one")
    .option("-f, --follow", "go on with what happens; without --after only that")
    .option("--after <seq>", "only after that number; 0 for all that are kept", parseSeq)
    .option("--type <type>", "only of this type, such as sandbox.paused or sandbox.*; repeatable", addText)
    .option("--json", "print each as JSON, one a line")
    .action(
      action(async (client, sandbox: string | undefined, options: Options) => {
        for await (const event of read(client, sandbox, options))
          await print(options.json === true ? `${JSON.stringify(event)}\n` : lineOf(event));
        return undefined;
      }),
    );
  return examples(command, [
    "torpor events base",
    "torpor events -f",
    "torpor events -f --type sandbox.paused --type sandbox.resumed",
    "torpor events --after 4711 --json",
  ]);
}

async function* read({ feed }: TorporClient, sandbox: string | undefined, { follow, after, type: types }: Options): AsyncGenerator<Event> {
  const filter = { ...(sandbox === undefined ? {} : { sandbox }), ...(types === undefined ? {} : { types }) };
  if (follow === true) {
    yield* feed.follow({ ...filter, ...(after === undefined ? {} : { after }) });
    return;
  }
  for (
    let page = await feed.list({ ...filter, after: after ?? 0 });
    page.events.length > 0;
    page = await feed.list({ ...filter, after: page.next })
  )
    yield* page.events;
}

function lineOf({ seq, at, sandboxId, type, data }: Event): string {
  return `${oneLine([seq, at, sandboxId, type, JSON.stringify(data)].join(" "))}\n`;
}

function parseSeq(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError(`${JSON.stringify(text)} is no number of an event.`);
  return Number(text);
}
