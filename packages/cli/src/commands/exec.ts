import type { RestartPolicy, StartSessionRequest, TorporClient } from "@torpor/sdk/calls";
import { TorporError } from "@torpor/sdk/calls";
import { Command, Option } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { failWith } from "../failure.ts";
import { followSession } from "../follow-session.ts";
import { print, printJson } from "../leave.ts";
import { terminalSize } from "../terminal.ts";
import { parseDuration } from "../values/duration.ts";
import { addVariable } from "../values/pair.ts";

interface Options {
  interactive?: boolean;
  tty?: boolean;
  env?: Readonly<Record<string, string>>;
  workdir?: string;
  user?: string;
  timeout?: number;
  detach?: boolean;
  supervise?: RestartPolicy;
  json?: boolean;
}

export function execCommand(): Command {
  const command = new Command("exec")
    .description("run a command in a sandbox; its exit code is this one's")
    .usage("[options] <sandbox> [--] <command> [argument...]")
    .argument("<sandbox>", "id or name")
    .argument("<command...>", "the program and its arguments; no shell unless you name one")
    .option("-i, --interactive", "give it this command's input")
    .option("-t, --tty", "give it a terminal")
    .option("-e, --env <name=value>", "environment variable; repeatable; a name alone takes the value from here", addVariable)
    .option("-w, --workdir <path>", "working directory")
    .option("-u, --user <user>", "user: name, uid, name:group or uid:gid")
    .option("--timeout <duration>", "end it after this running time, with exit code 124", parseDuration)
    .option("-d, --detach", "leave it running and print its session's id")
    .addOption(
      new Option("--supervise <restart>", "leave it running and keep it so: begin it again after these ends").choices([
        "never",
        "on-failure",
        "always",
      ]),
    )
    .option("--json", "with --detach: print the session as JSON")
    // Options after the sandbox are the command's own.
    .passThroughOptions()
    .action(
      action(async (client, sandbox: string, argv: string[], options: Options) => {
        const words = argv[0] === "--" ? argv.slice(1) : argv;
        if (words.length === 0)
          throw new TorporError("invalid_request", "no command was given", { hint: `torpor exec ${sandbox} COMMAND` });
        const request = requestOf(words, options);
        return options.detach === true || options.supervise !== undefined
          ? detach(client, sandbox, request, options)
          : follow(client, sandbox, request, options);
      }),
    );
  return examples(command, [
    "torpor exec base pip install requests",
    "torpor exec -it base bash",
    "tar c src | torpor exec -i -w /tmp base tar x",
    "torpor exec --supervise on-failure base python3 -m http.server 8000",
    "torpor exec --timeout 30s -e DEBUG=1 base python -c 'print(1)'",
  ]);
}

function requestOf(argv: string[], { env, workdir, user, timeout, interactive, tty, detach }: Options): StartSessionRequest {
  if (tty === true && interactive === true && detach !== true && process.stdin.isTTY !== true) {
    throw new TorporError("invalid_request", "the input is not a terminal", { hint: "Leave -t out to pipe input into the command." });
  }
  return {
    argv,
    ...(env === undefined ? {} : { env }),
    ...(workdir === undefined ? {} : { workdir }),
    ...(user === undefined ? {} : { user }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(interactive === true ? { stdin: true } : {}),
    ...(tty === true ? { terminal: { ...terminalSize(), ...(process.env.TERM === undefined ? {} : { term: process.env.TERM }) } } : {}),
  };
}

async function detach(
  client: TorporClient,
  sandbox: string,
  request: StartSessionRequest,
  { json, supervise }: Options,
): Promise<undefined> {
  const session = await client.startSession(sandbox, {
    ...request,
    ...(supervise === undefined ? {} : { supervise: { restart: supervise } }),
  });
  await (json === true ? printJson(session) : print(`${session.id}\n`));
  return undefined;
}

async function follow(client: TorporClient, sandbox: string, request: StartSessionRequest, { interactive, tty }: Options): Promise<number> {
  try {
    const following = { sandbox, input: interactive === true, terminal: tty === true, owns: true };
    return await followSession(client, () => client.stream(sandbox, request), following);
  } catch (error) {
    const code = failWith(error);
    return error instanceof TorporError && error.code === "command_not_started" ? shellCode(error) : code;
  }
}

/** As a shell has it: 127 for no such program, 126 for one that can't be executed. */
export function shellCode(error: TorporError): number {
  return error.details.exitCode === 126 ? 126 : 127;
}
