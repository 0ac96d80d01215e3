import type { SandboxRecord as Sandbox, SandboxState } from "@torpor/sdk";
import { Command, Option } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { addListOptions, type ListOptions, printList } from "../list-output.ts";
import { table } from "../table.ts";
import { formatDuration } from "../values/duration.ts";
import { addLabel } from "../values/pair.ts";
import { formatSize } from "../values/size.ts";

interface Options extends ListOptions {
  state?: SandboxState[];
  label?: Readonly<Record<string, string>>;
}

const states: readonly SandboxState[] = [
  "creating",
  "running",
  "pausing",
  "paused",
  "resuming",
  "stopping",
  "stopped",
  "failed",
  "removing",
];

export function listCommand(): Command {
  const command = addListOptions(new Command("list").alias("ls").description("list all sandboxes, in every state"))
    .option("-a, --all", "all states, which is the default")
    .addOption(new Option("--state <state...>", "only those in these states").choices(states))
    .option("--label <name=value>", "only those with this label; repeatable", addLabel)
    .action(
      action(async (client, { state, label, ...options }: Options) => {
        const sandboxes = await client.list({
          ...(state === undefined ? {} : { states: state }),
          ...(label === undefined ? {} : { labels: label }),
        });
        await printList(sandboxes, options, { id: ({ id }) => id, table: tableOf });
        return undefined;
      }),
    );
  return examples(command, [
    "torpor list",
    "torpor list --format '{name} {state} {image.reference}'",
    "torpor list --state paused --label owner=me",
    "torpor remove --force $(torpor list -q)",
  ]);
}

/** The time left stands there only if some sandbox has any. */
function tableOf(sandboxes: readonly Sandbox[]): string {
  const left = sandboxes.map(timeLeft);
  const timed = left.some((text) => text !== "-");
  const head = ["ID", "NAME", "IMAGE", "STATE", "UPTIME", "MEMORY"];
  return table(
    timed ? [...head, "TIME LEFT"] : head,
    sandboxes.map((sandbox, at) => [...rowOf(sandbox), ...(timed ? [left[at] ?? "-"] : [])]),
  );
}

/** Until what happens to it first, unless it is used or refreshed. */
function timeLeft({ state, expiresAt, hardExpiresAt, idleMs, lastActiveAt, onTimeout = "pause" }: Sandbox): string {
  const idleAt = state === "running" && idleMs != null && lastActiveAt != null ? Date.parse(lastActiveAt) + idleMs : undefined;
  const ends: [number | undefined, string][] = [
    [hardExpiresAt == null ? undefined : Date.parse(hardExpiresAt), "remove"],
    [expiresAt == null ? undefined : Date.parse(expiresAt), onTimeout],
    [idleAt, `${onTimeout} if idle`],
  ];
  const [first] = ends.flatMap(([at, what]) => (at === undefined ? [] : [{ at, what }])).sort((a, b) => a.at - b.at);
  return first === undefined ? "-" : `${formatDuration(first.at - Date.now())} (${first.what})`;
}

function rowOf(sandbox: Sandbox): string[] {
  const { id, name, image, state, startedAt, resources } = sandbox;
  const uptime = state === "running" && startedAt !== null ? formatDuration(Date.now() - Date.parse(startedAt)) : "-";
  return [id, name, image.reference, state, uptime, formatSize(resources.memoryBytes)];
}
