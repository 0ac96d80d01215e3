import type { CreateSandboxRequest, SandboxRecord, SelfVerb, TorporClient } from "@torpor/sdk/calls";
import { Command, Option } from "commander";
import { action } from "../action.ts";
import { createFetching } from "../create-fetching.ts";
import { examples } from "../examples.ts";
import { failWith, oneLine, say } from "../failure.ts";
import { print, printJson } from "../leave.ts";
import { addTimeOptions, type TimeOptions, timeRequestOf } from "../time-options.ts";
import { parseAmount, parseCount } from "../values/count.ts";
import { addLabel, addVariable } from "../values/pair.ts";
import { parseSize } from "../values/size.ts";
import { type WaitCapacity, waitCapacityOption, waitingForRoom } from "../values/wait-capacity.ts";

interface Options extends TimeOptions, WaitCapacity {
  snapshot?: string;
  filesOnly?: boolean;
  count?: number;
  name?: string;
  memory?: number;
  cpus?: number;
  disk?: number;
  pids?: number;
  env?: Readonly<Record<string, string>>;
  workdir?: string;
  user?: string;
  network?: "default" | "none";
  label?: Readonly<Record<string, string>>;
  restart?: "never" | "on-failure" | "always";
  selfControl?: SelfVerb[];
  runImageCommand?: boolean;
  pull: boolean;
  json?: boolean;
}

export function createCommand(): Command {
  const command = addTimeOptions(new Command("create"))
    .description("make a sandbox from an image and boot it, or from a snapshot; prints its id")
    .argument("[image]", "reference of an image, such as python:3.12")
    .option("--snapshot <snapshot>", "in place of an image: id or name of a snapshot; its processes go on if it has memory")
    .option("--files-only", "take the snapshot's files only, and boot fresh")
    .option("--count <number>", "so many from the snapshot; default 1", parseCount)
    .option("--name <name>", "name; default: a generated one; with --count they are <name>-1, <name>-2, …")
    .option("--memory <size>", "memory, such as 512MiB; default 512MiB", parseSize)
    .option("--cpus <number>", "CPUs, fractions allowed; default 1", parseAmount)
    .option("--disk <size>", "size of the disk; default 10GiB", parseSize)
    .option("--pids <number>", "most processes at a time; default 4096", parseCount)
    .option("-e, --env <name=value>", "environment variable; repeatable; a name alone takes the value from here", addVariable)
    .option("-w, --workdir <path>", "working directory of commands; default the image's")
    .option("-u, --user <user>", "user of commands; default the image's")
    .addOption(new Option("--network <mode>", "network").choices(["default", "none"]))
    .option("--label <name=value>", "label; repeatable", addLabel)
    .addOption(
      new Option("--restart <policy>", "fresh boot after it ended by itself; default never").choices(["never", "on-failure", "always"]),
    )
    .addOption(waitCapacityOption())
    .option(
      "--self-control <verbs>",
      "what its processes may do with it, by the command torpor in it: pause, fork; comma-separated",
      parseVerbs,
    )
    .option("--run-image-command", "run the image's ENTRYPOINT and CMD in it, and begin it again when it fails")
    .option("--no-pull", "refuse an image that is not here, in place of fetching it")
    .option("--json", "print the sandbox's record as JSON")
    .action(
      action(async (client, image: string | undefined, options: Options) => {
        const { siblings = [], ...first } = await createFetching(client, requestOf(image, options), waitingForRoom(options));
        const all = [first, ...siblings];
        const made = all.flatMap(({ sandbox }) => sandbox ?? []);
        for (const { name } of made) say(`created sandbox ${oneLine(name)}`);
        await begin(client, made, options);
        if (options.json === true) await printJson(siblings.length === 0 ? made[0] : made);
        else await print(made.map(({ id }) => `${id}\n`).join(""));
        const errors = all.flatMap(({ operation }) => operation.error ?? []);
        for (const { message } of errors) failWith(new Error(message));
        return errors.length === 0 ? undefined : 1;
      }),
    );
  return examples(command, [
    "torpor create --name base --memory 512MiB python:3.12",
    "torpor create --self-control pause,fork debian",
    "torpor create -e TOKEN --cpus 2 --network none debian",
    "torpor create --snapshot warm --name try --count 3",
    "torpor create --ttl 30m --hard-ttl 7d --idle 10m --auto-resume debian",
  ]);
}

async function begin(client: TorporClient, made: readonly SandboxRecord[], { runImageCommand }: Options): Promise<void> {
  if (runImageCommand !== true) return;
  for (const { id } of made) await client.startSession(id, { command: "image", supervise: {} });
}

/** The daemon refuses those that there are not, and names them. */
function parseVerbs(text: string): SelfVerb[] {
  return text.split(",").filter((verb) => verb !== "") as SelfVerb[];
}

function requestOf(
  image: string | undefined,
  { memory, cpus, disk, pids, label, pull, filesOnly, ...rest }: Options,
): CreateSandboxRequest {
  const { json: _json, runImageCommand: _run, ttl: _ttl, hardTtl: _hardTtl, idle: _idle, waitCapacity: _wait, ...same } = rest;
  const resources = given({ memoryBytes: memory, cpus, diskBytes: disk, pids });
  return {
    ...given({ image, labels: label }),
    ...same,
    ...timeRequestOf(rest),
    ...(filesOnly === true ? { memory: false } : {}),
    ...(pull ? {} : { pull }),
    ...(Object.keys(resources).length === 0 ? {} : { resources }),
  };
}

function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
