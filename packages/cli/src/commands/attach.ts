import type { Session, TorporClient } from "@torpor/sdk/calls";
import { TorporError } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { defaultDetachKeys, parseDetachKeys } from "../detach-keys.ts";
import { examples } from "../examples.ts";
import { followLasting } from "../follow-lasting.ts";
import { parseCount } from "../values/count.ts";

interface Options {
  stdin: boolean;
  after?: number;
  takeover?: boolean;
  detachKeys: string;
}

export function attachCommand(): Command {
  const command = new Command("attach")
    .description("connect to a session that runs: what it has put out, then what comes; yours are its keys")
    .argument("<sandbox>", "id or name; one that is paused and wakes for calls is resumed")
    .argument("[session]", "its id; default: the newest that runs, a terminal before others")
    .option("--no-stdin", "only watch: no keys, no size, no signals")
    .option("--after <number>", "only output after this sequence number", parseCount)
    .option("--takeover", "end the connections of all others who type in it")
    .option("--detach-keys <keys>", "leave it with these keys, or none", defaultDetachKeys)
    .action(
      action(async (client, sandbox: string, sid: string | undefined, { stdin, detachKeys, ...rest }: Options) => {
        const session = sid === undefined ? await newest(client, sandbox) : await client.session(sandbox, sid);
        const input = stdin && (!session.terminal || process.stdin.isTTY === true);
        return followLasting(client, { sandbox, session, input, detachKeys: parseDetachKeys(detachKeys), ...rest });
      }),
    );
  return examples(command, ["torpor attach base", "torpor attach --no-stdin base se_aaaaaaaaaaaaaaaa"]);
}

async function newest(client: TorporClient, sandbox: string): Promise<Session> {
  const running = (await client.sessions(sandbox)).filter(({ end }) => end === null);
  const found = running.filter(({ terminal }) => terminal).at(-1) ?? running.at(-1);
  if (found !== undefined) return found;
  throw new TorporError("session_not_found", `nothing runs in sandbox ${sandbox} that was started through Torpor`, {
    hint: `torpor shell ${sandbox} starts a shell; torpor sessions ${sandbox} lists what has ended.`,
  });
}
