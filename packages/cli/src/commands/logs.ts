import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { followLog } from "../follow-log.ts";
import { followSession } from "../follow-session.ts";
import { print } from "../leave.ts";
import { parseSize } from "../values/size.ts";

export function logsCommand(): Command {
  const command = new Command("logs")
    .description("print what a sandbox's guest and engine wrote, or the output of one of its sessions")
    .argument("<sandbox>", "id or name")
    .argument("[session]", "id of a session, as exec --detach prints it: its kept output, then what comes, to its end")
    .option("--limit <size>", "bytes from the end of the sandbox's log; default 1MiB", parseSize)
    .option("-f, --follow", "go on with what is written to the sandbox's log, until Ctrl-C; a session's output is followed anyway")
    .action(
      action(async (client, sandbox: string, session: string | undefined, options: { limit?: number; follow?: boolean }) => {
        if (session !== undefined)
          return followSession(client, () => client.attach(sandbox, session, { hold: false }), {
            sandbox,
            input: false,
            terminal: false,
            owns: false,
          });
        const text = await client.logs(sandbox, options.limit);
        await print(text);
        if (options.follow === true) await followLog(client, sandbox, text);
        return undefined;
      }),
    );
  return examples(command, ["torpor logs base", "torpor logs -f base", "torpor logs base $(torpor exec --detach base make)"]);
}
