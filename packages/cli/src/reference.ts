import type { Command } from "commander";
import { createProgram } from "./app.ts";
import { examplesOf } from "./examples.ts";

const preface = `# The command line

<!-- Made from the table of commands by packages/cli/src/reference-main.ts. -->

\`torpor [--socket PATH] COMMAND\`. Options of the program stand before the command, those of a command before its arguments.

Data goes to stdout, everything else to stderr. \`--json\` prints one JSON value, or nothing when it fails. A failure is one line, \`torpor: …\`, and often a second, \`hint: …\`.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | refused or failed; \`exec\`: the stream ended since the sandbox was paused, stopped or removed |
| 124 | \`exec --timeout\`: the time limit |
| 125 | \`run\`: Torpor failed, and the command never ran |
| 126, 127 | \`exec\`, \`run\`: the command can't be executed; there is no such command |
| 128 + n | \`exec\`, \`run\`: the command died of signal n; 137 with \`out of memory (oom)\` on stderr: of its memory limit |
| 130 | interrupted |
| 141 | the reader of stdout has gone |
| other | \`exec\`, \`run\`: the command's own |

| variable | meaning |
|---|---|
| \`TORPOR_SOCKET\` | the daemon's socket; default \`torpord.sock\` in the data directory |
| \`TORPOR_DATA\` | the data directory; default \`/var/lib/torpor\` |
| \`TORPOR_STORE\` | for \`daemon start\`: URL of a PostgreSQL database in place of SQLite; it may hold a password |
| \`TORPOR_URL\`, \`TORPOR_TOKEN\` | a daemon elsewhere, and the token for it |
| \`TORPOR_CONTEXT\` | name of a daemon that \`torpor login\` added, or \`local\`; default what \`torpor context use\` chose, unless a socket or data directory is named |
| \`XDG_CONFIG_HOME\` | the contexts are in \`torpor/contexts.json\` there; default \`~/.config\` |

\`--format\` with a list prints a line for each: \`{name}\` and \`{image.reference}\` stand for fields of the record as \`--json\` has it, \`\\t\` and \`\\n\` for a tab and a line end,
\`{{\` and \`}}\` for braces. It is no language: who needs conditions has \`--json\` and jq. Several ids are all tried; failures are told last, and the exit code is 1 then.
On a terminal the widest columns of a table are cut to fit; nowhere else is anything cut. There are no colours.

Sizes: \`512MiB\`, \`1.5g\`, \`10GB\`; \`k\`, \`m\`, \`g\`, \`t\` and \`KiB\`, … are powers of 1024, \`KB\`, … powers of 1000. Durations: \`500ms\`, \`10s\`, \`5m\`, \`1h\`.

Ctrl-C during \`exec\` without \`-t\` sends SIGINT to the command, as do SIGTERM, SIGHUP and SIGQUIT; a fourth one ends \`torpor\` and leaves the command running.
A command whose \`torpor exec\` is killed goes on: its session is listed by the API, and can be signalled or attached to (\`torpor logs SANDBOX SESSION\`).
Interrupting any other command cancels nothing: the operation goes on.
`;

/** The reference of all commands, as Markdown. */
export async function renderReference(): Promise<string> {
  const program = await createProgram();
  return `${preface}\n${program.commands.flatMap((command) => describe(command, "torpor")).join("\n")}`;
}

function describe(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  const aliases = command.aliases().map((alias) => ` (\`${alias}\`)`);
  const usage = `${name} ${command.usage()}`.trim();
  const help = command.createHelp();
  const rows = [
    ...help.visibleArguments(command).map((argument) => [help.argumentTerm(argument), help.argumentDescription(argument)]),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== "--help")
      .map((option) => [help.optionTerm(option), help.optionDescription(option)]),
  ];
  const table =
    rows.length === 0 ? [] : ["| | |", "|---|---|", ...rows.map(([term, text]) => `| \`${term}\` | ${text?.replaceAll("|", "\\|")} |`), ""];
  const examples = examplesOf(command);
  return [
    `## ${name}${aliases.join("")}`,
    "",
    `${capital(command.description())}.`,
    "",
    ...(command.commands.length > 0 ? [] : ["```sh", usage, "```", "", ...table, "```sh", ...examples, "```", ""]),
    ...command.commands.flatMap((inner) => describe(inner, name)),
  ];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
