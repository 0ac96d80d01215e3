import type { SandboxRecord, SandboxState, TorporClient } from "@torpor/sdk/calls";
import { Command, Option } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { print } from "../leave.ts";
import { sandboxStates, sandboxTable } from "../sandbox-table.ts";
import { terminalSize } from "../terminal.ts";
import { addLabel } from "../values/pair.ts";

interface Options {
  state?: SandboxState[];
  label?: Readonly<Record<string, string>>;
  json?: boolean;
}

/** Between two looks while nothing happens: uptimes and times left go on. */
const lookMs = 1000;

export function watchCommand(): Command {
  const command = new Command("watch")
    .description("list sandboxes, and list them anew whenever something happens to one, until Ctrl-C")
    .addOption(new Option("--state <state...>", "only those in these states").choices(sandboxStates))
    .option("--label <name=value>", "only those with this label; repeatable", addLabel)
    .option("--json", "print the records as JSON, a line each time")
    .action(
      action(async (client, options: Options) => {
        const write = options.json === true || process.stdout.isTTY !== true ? writeNews(options) : draw;
        for await (const sandboxes of lists(client, options)) await write(sandboxes);
        return undefined;
      }),
    );
  return examples(command, ["torpor watch", "torpor watch --state running --json"]);
}

/** Elsewhere than on a terminal a time that went on is no news. */
function writeNews({ json }: Options): (sandboxes: readonly SandboxRecord[]) => Promise<void> {
  let known = "";
  return async (sandboxes) => {
    const news = JSON.stringify(sandboxes);
    if (news === known) return;
    known = news;
    await print(json === true ? `${news}\n` : sandboxTable(sandboxes));
  };
}

async function* lists(client: TorporClient, { state, label }: Options): AsyncGenerator<SandboxRecord[]> {
  const filter = { ...(state === undefined ? {} : { states: state }), ...(label === undefined ? {} : { labels: label }) };
  const events = client.feed.follow();
  const next = () => {
    const event = events.next();
    // Told of where it is waited for: the list that is asked for first may fail too.
    event.catch(() => {});
    return event;
  };
  let event = next();
  for (;;) {
    yield await client.list(filter);
    const happened = await Promise.race([event.then(() => true), new Promise<false>((resolve) => setTimeout(resolve, lookMs, false))]);
    if (happened) event = next();
  }
}

/** From the top, over what was there, and no line more than the terminal has. */
async function draw(sandboxes: readonly SandboxRecord[]): Promise<void> {
  const lines = sandboxTable(sandboxes).split("\n").slice(0, -1);
  const { rows } = terminalSize();
  const fitting = lines.length < rows ? lines : [...lines.slice(0, rows - 2), `… and ${lines.length - rows + 2} more`];
  await print(`\x1b[H${fitting.map((line) => `${line}\x1b[K\n`).join("")}\x1b[J`);
}
