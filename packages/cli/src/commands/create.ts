import type { CreateSandboxRequest, OperationAnswer, SelfVerb, TorporClient, WaitingForRoom } from "@torpor/sdk";
import { TorporError } from "@torpor/sdk";
import { Command, Option } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { oneLine, say } from "../failure.ts";
import { withProgress } from "../image-progress.ts";
import { print, printJson } from "../leave.ts";
import { addTimeOptions, type TimeOptions, timeRequestOf } from "../time-options.ts";
import { parseAmount, parseCount } from "../values/count.ts";
import { addLabel, addVariable } from "../values/pair.ts";
import { parseSize } from "../values/size.ts";
import { type WaitCapacity, waitCapacityOption, waitingForRoom } from "../values/wait-capacity.ts";

interface Options extends TimeOptions, WaitCapacity {
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
  pull: boolean;
  json?: boolean;
}

export function createCommand(): Command {
  const command = addTimeOptions(new Command("create"))
    .description("make a sandbox from an image and boot it; prints its id")
    .argument("<image>", "reference of an image, such as python:3.12")
    .option("--name <name>", "name; default: a generated one")
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
    .option("--no-pull", "refuse an image that is not here, in place of fetching it")
    .option("--json", "print the sandbox's record as JSON")
    .action(
      action(async (client, image: string, options: Options) => {
        const { sandbox } = await createFetching(client, requestOf(image, options), waitingForRoom(options));
        if (sandbox === null) return undefined;
        say(`created sandbox ${oneLine(sandbox.name)}`);
        await (options.json === true ? printJson(sandbox) : print(`${sandbox.id}\n`));
        return undefined;
      }),
    );
  return examples(command, [
    "torpor create --name base --memory 512MiB python:3.12",
    "torpor create --self-control pause,fork debian",
    "torpor create -e TOKEN --cpus 2 --network none debian",
    "torpor create --ttl 30m --hard-ttl 7d --idle 10m --auto-resume debian",
  ]);
}

/** The daemon refuses those that there are not, and names them. */
function parseVerbs(text: string): SelfVerb[] {
  return text.split(",").filter((verb) => verb !== "") as SelfVerb[];
}

/** An image that is not here is fetched by a call of its own, since only that one tells how far it is. */
async function createFetching(client: TorporClient, request: CreateSandboxRequest, waiting: WaitingForRoom): Promise<OperationAnswer> {
  if (request.pull === false) return client.create(request, waiting);
  try {
    return await client.create({ ...request, pull: false }, waiting);
  } catch (error) {
    if (!(error instanceof TorporError) || error.code !== "image_not_found") throw error;
  }
  await withProgress((progress) => client.images.pull({ reference: request.image }, progress));
  return client.create(request, waiting);
}

function requestOf(image: string, { memory, cpus, disk, pids, label, pull, ...rest }: Options): CreateSandboxRequest {
  const { json: _json, ttl: _ttl, hardTtl: _hardTtl, idle: _idle, waitCapacity: _wait, ...same } = rest;
  const resources = given({ memoryBytes: memory, cpus, diskBytes: disk, pids });
  return {
    image,
    ...same,
    ...timeRequestOf(rest),
    ...given({ labels: label }),
    ...(pull ? {} : { pull }),
    ...(Object.keys(resources).length === 0 ? {} : { resources }),
  };
}

function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
