import type { Session, TorporClient } from "@torpor/sdk/calls";
import { TorporError } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { defaultDetachKeys, parseDetachKeys } from "../detach-keys.ts";
import { examples } from "../examples.ts";
import { followLasting } from "../follow-lasting.ts";
import { terminalSize } from "../terminal.ts";
import { addVariable } from "../values/pair.ts";

interface Options {
  attach?: boolean;
  env?: Readonly<Record<string, string>>;
  workdir?: string;
  user?: string;
  detachKeys: string;
}

/** The user's login shell, as the image's passwd file names it; else bash, else sh. */
const loginShell =
  'user=$(id -un 2>/dev/null); SHELL=$(sed -n "s/^$user:.*://p" /etc/passwd 2>/dev/null | head -n 1); [ -x "$SHELL" ] || SHELL=$(command -v bash || command -v sh); export SHELL; exec "$SHELL" -l';
export const shellName = "login-shell";

export function shellCommand(): Command {
  const command = new Command("shell")
    .description("a login shell in a terminal; it stays when you leave it, over pauses too")
    .argument("<sandbox>", "id or name")
    .option("-a, --attach", "go on in the sandbox's newest terminal, if it has one")
    .option("-e, --env <name=value>", "environment variable; repeatable; a name alone takes the value from here", addVariable)
    .option("-w, --workdir <path>", "working directory")
    .option("-u, --user <user>", "user: name, uid, name:group or uid:gid")
    .option("--detach-keys <keys>", "leave it with these keys, or none", defaultDetachKeys)
    .action(
      action(async (client, sandbox: string, options: Options) => {
        if (process.stdin.isTTY !== true) {
          throw new TorporError("invalid_request", "a shell needs a terminal, and the input is none", {
            hint: `torpor exec -i ${sandbox} sh runs what is piped into it.`,
          });
        }
        const detachKeys = parseDetachKeys(options.detachKeys);
        const session =
          (options.attach === true ? await newestTerminal(client, sandbox) : undefined) ?? (await begin(client, sandbox, options));
        return followLasting(client, { sandbox, session, input: true, detachKeys });
      }),
    );
  return examples(command, ["torpor shell base", "torpor shell --attach base"]);
}

async function newestTerminal(client: TorporClient, sandbox: string): Promise<Session | undefined> {
  return (await client.sessions(sandbox)).filter(({ terminal, end }) => terminal && end === null).at(-1);
}

function begin(client: TorporClient, sandbox: string, { env, workdir, user }: Options): Promise<Session> {
  return client.startSession(sandbox, {
    argv: ["sh", "-c", loginShell, shellName],
    terminal: { ...terminalSize(), ...(process.env.TERM === undefined ? {} : { term: process.env.TERM }) },
    ...(env === undefined ? {} : { env }),
    ...(workdir === undefined ? {} : { workdir }),
    ...(user === undefined ? {} : { user }),
  });
}
