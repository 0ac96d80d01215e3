import type { Session } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { oneLine, say } from "../failure.ts";
import { addListOptions, type ListOptions, printList } from "../list-output.ts";
import { forEach, jsonOption, type Several } from "../several.ts";
import { table } from "../table.ts";
import { formatDuration } from "../values/duration.ts";
import { shellName } from "./shell.ts";

export function sessionsCommand(): Command {
  const list = new Command("sessions")
    .description("list what was started in a sandbox through Torpor, ended ones too; start, stop and restart what is supervised")
    .argument("<sandbox>", "id or name");
  const command = addListOptions(list).action(
    action(async (client, sandbox: string, options: ListOptions) => {
      await printList(await client.sessions(sandbox), options, {
        id: ({ id }) => id,
        table: (all) => table(["SESSION", "PID", "KIND", "STATE", "AGE", "COMMAND"], all.map(rowOf)),
      });
      return undefined;
    }),
  );
  for (const [name, description] of wanted) {
    const one = new Command(name)
      .description(description)
      .argument("<sandbox>", "id or name")
      .argument("<session...>", "ids")
      .option(...jsonOption)
      .action(
        action((client, sandbox: string, sessions: string[], options: Several) =>
          forEach(sessions, options, async (sid) => {
            const session = await client.supervised[name](sandbox, sid);
            const reason = session.supervision?.reason;
            if (reason != null) say(`torpor: ${sid}: ${oneLine(reason)}`);
            return session;
          }),
        ),
      );
    command.addCommand(examples(one, [`torpor sessions ${name} base se_aaaaaaaaaaaaaaaa`]));
  }
  return examples(command, ["torpor sessions base"]);
}

const wanted = [
  ["start", "have the processes of supervised sessions run; those that were given up are tried again"],
  ["stop", "end the processes of supervised sessions, and keep them ended"],
  ["restart", "end the processes of supervised sessions and begin others"],
] as const;

function rowOf(session: Session): string[] {
  const { id, pid, terminal, startedAt, argv } = session;
  return [
    id,
    String(pid),
    terminal ? "terminal" : "pipes",
    stateOf(session),
    formatDuration(Date.now() - Date.parse(startedAt)),
    commandOf(argv),
  ];
}

function stateOf({ end, supervision }: Session): string {
  if (supervision !== undefined) return supervision.state;
  if (end === null) return "running";
  return end.reason === "exited" ? `exited ${end.exitCode ?? ""}` : end.reason;
}

function commandOf(argv: readonly string[]): string {
  if (argv.at(-1) === shellName) return "login shell";
  const text = argv.join(" ");
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
