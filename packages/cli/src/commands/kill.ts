import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { forEach, jsonOption } from "../several.ts";

interface Options {
  signal: string;
  forget?: boolean;
  json?: boolean;
}

export function killCommand(): Command {
  const command = new Command("kill")
    .description("send a signal to commands of a sandbox: to each one's whole process group")
    .argument("<sandbox>", "id or name")
    .argument("<session...>", "ids of their sessions, as exec --detach prints them")
    .option("-s, --signal <signal>", "by name or number", "TERM")
    .option("--forget", "kill them, whatever they do, and forget their output too; of those that have ended forget it")
    .option(...jsonOption)
    .action(
      action((client, sandbox: string, sessions: string[], { signal, forget, ...options }: Options) =>
        forEach(sessions, options, (id) =>
          forget === true ? client.removeSession(sandbox, id, { force: true }) : client.signal(sandbox, id, signal.replace(/^SIG/, "")),
        ),
      ),
    );
  return examples(command, ["torpor kill base se_aaaaaaaaaaaaaaaa", "torpor kill -s HUP base se_aaaaaaaaaaaaaaaa"]);
}
