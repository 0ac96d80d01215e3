import type { CreateSandboxRequest, StartSessionRequest, TorporClient } from "@torpor/sdk/calls";
import { TorporError } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { createFetching } from "../create-fetching.ts";
import { examples } from "../examples.ts";
import { failWith, say } from "../failure.ts";
import { followSession } from "../follow-session.ts";
import { onBrokenPipe } from "../leave.ts";
import { terminalSize } from "../terminal.ts";
import { parseAmount } from "../values/count.ts";
import { addText } from "../values/list.ts";
import { addVariable } from "../values/pair.ts";
import { parseSize } from "../values/size.ts";
import { shellCode } from "./exec.ts";

interface Options {
  interactive?: boolean;
  tty?: boolean;
  name?: string;
  memory?: number;
  cpus?: number;
  env?: Readonly<Record<string, string>>;
  workdir?: string;
  user?: string;
  network?: "default" | "none";
  keep?: boolean;
  volume?: readonly string[];
}

/** As docker run has it: Torpor failed, and the command never ran. */
const failedCode = 125;

export function runCommand(): Command {
  const command = new Command("run")
    .description("make a sandbox, run a command in it, and remove it; the command's exit code is this one's")
    .usage("[options] <image> [command] [argument...]")
    .argument("<image>", "reference of an image, such as python:3.12")
    .argument("[command...]", "the program and its arguments; default: the image's own (ENTRYPOINT and CMD)")
    .option("-i, --interactive", "give it this command's input")
    .option("-t, --tty", "give it a terminal")
    .option("--name <name>", "name of the sandbox; default: a generated one")
    .option("--memory <size>", "memory, such as 512MiB; default 512MiB", parseSize)
    .option("--cpus <number>", "CPUs, fractions allowed; default 1", parseAmount)
    .option("-e, --env <name=value>", "environment variable; repeatable; a name alone takes the value from here", addVariable)
    .option("-w, --workdir <path>", "working directory; default the image's")
    .option("-u, --user <user>", "user; default the image's")
    .option("--network <mode>", "default or none")
    .option("--keep", "leave the sandbox running afterwards")
    .option("-v, --volume <volume>", "not supported: torpor cp copies files in and out", addText)
    // Options after the image are the command's own.
    .passThroughOptions()
    .action(
      action(async (client, image: string, argv: string[], options: Options) => {
        try {
          refuseUnsupported(options);
          return await run(client, image, argv[0] === "--" ? argv.slice(1) : argv, options);
        } catch (error) {
          failWith(error);
          return error instanceof TorporError && error.code === "command_not_started" ? shellCode(error) : failedCode;
        }
      }),
    );
  return examples(command, [
    "torpor run python:3.12 python -c 'print(1)'",
    "torpor run -it debian bash",
    "torpor run --network none -i debian sha256sum <file",
  ]);
}

function refuseUnsupported({ volume, interactive, tty }: Options): void {
  if (volume !== undefined)
    throw new TorporError("capability_unsupported", "a sandbox sees no directory of its host, so -v is not supported", {
      hint: "torpor create, then torpor cp ./src SANDBOX:/src, copies files into one.",
    });
  if (tty === true && interactive === true && process.stdin.isTTY !== true)
    throw new TorporError("invalid_request", "the input is not a terminal", { hint: "Leave -t out to pipe input into the command." });
}

async function run(client: TorporClient, image: string, argv: readonly string[], options: Options): Promise<number> {
  const { sandbox } = await createFetching(client, requestOf(image, options), {});
  if (sandbox === null) throw new TorporError("internal", "the sandbox was removed while it was made");
  const { id, name } = sandbox;
  const remove = async () => {
    if (options.keep !== true) await client.remove(id, { force: true });
  };
  onBrokenPipe(remove);
  try {
    const words = argv.length > 0 ? argv : await ownCommand(client, sandbox.image.digest, image);
    return await followSession(client, () => client.stream(id, sessionOf(words, options)), {
      sandbox: name,
      input: options.interactive === true,
      terminal: options.tty === true,
      owns: true,
    });
  } finally {
    if (options.keep === true) say(`sandbox ${name} goes on`);
    await remove();
  }
}

/** ENTRYPOINT and CMD. */
async function ownCommand(client: TorporClient, digest: string, image: string): Promise<readonly string[]> {
  const found = (await client.images.list()).find((one) => one.digest === digest);
  const words = [...(found?.config.entrypoint ?? []), ...(found?.config.cmd ?? [])];
  if (words.length === 0)
    throw new TorporError("invalid_request", `no command was given, and image ${image} has none of its own`, {
      hint: `torpor run ${image} COMMAND`,
    });
  return words;
}

function requestOf(image: string, { name, memory, cpus, env, workdir, user, network }: Options): CreateSandboxRequest {
  const resources = { ...(memory === undefined ? {} : { memoryBytes: memory }), ...(cpus === undefined ? {} : { cpus }) };
  return {
    image,
    ...(name === undefined ? {} : { name }),
    ...(Object.keys(resources).length === 0 ? {} : { resources }),
    ...(env === undefined ? {} : { env: { ...env } }),
    ...(workdir === undefined ? {} : { workdir }),
    ...(user === undefined ? {} : { user }),
    ...(network === undefined ? {} : { network }),
  };
}

function sessionOf(argv: readonly string[], { interactive, tty }: Options): StartSessionRequest {
  return {
    argv: [...argv],
    ...(interactive === true ? { stdin: true } : {}),
    ...(tty === true ? { terminal: { ...terminalSize(), ...(process.env.TERM === undefined ? {} : { term: process.env.TERM }) } } : {}),
  };
}
