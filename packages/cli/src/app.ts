import { Command, CommanderError } from "commander";
import { commands } from "./commands.ts";
import { failWith } from "./failure.ts";
import { endQuietlyOnBrokenPipe, leave } from "./leave.ts";
import { ownVersion } from "./own-version.ts";

/** Runs one command line and ends the process with its exit code. */
export async function run(argv: readonly string[]): Promise<void> {
  endQuietlyOnBrokenPipe();
  try {
    const program = await createProgram(commandOf(argv));
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    process.exitCode = error instanceof CommanderError ? usageCode(error) : failWith(error);
  }
  // Idle connections and an input nobody reads any more would keep it alive.
  await leave();
}

/** The program, with the one command that was asked for, or with all when it is not clear which. */
export async function createProgram(only?: string): Promise<Command> {
  const program = new Command("torpor")
    .description("Sandboxes that pause, resume and fork with their memory.")
    .version(ownVersion(), "-V, --version", "print the version of this command; torpor version prints the daemon's too")
    .option("--socket <path>", "the daemon's socket; default $TORPOR_SOCKET, else torpord.sock in $TORPOR_DATA or /var/lib/torpor")
    .enablePositionalOptions()
    .showHelpAfterError("(torpor --help tells more)")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`torpor: ${text.replace(/^error: /, "")}`) });
  const wanted =
    only === undefined || only === "complete" ? Object.values(commands) : [commands[only]].filter((load) => load !== undefined);
  for (const load of wanted) program.addCommand(inherit(await load(), program));
  // Not for people: it stands in no list.
  if (only === "complete") program.addCommand(inherit((await import("./commands/complete.ts")).completeCommand(), program));
  return program;
}

/** The first word that is neither a global option nor its value, when it is a command or its alias. */
function commandOf(argv: readonly string[]): string | undefined {
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? "";
    if (word === "--socket") at++;
    else if (!word.startsWith("-")) return aliases[word] ?? (word in commands || word === "complete" ? word : undefined);
  }
  return undefined;
}

const aliases: Record<string, string> = { ls: "list", rm: "remove" };

function inherit(command: Command, program: Command): Command {
  command.copyInheritedSettings(program);
  for (const inner of command.commands) inherit(inner, program);
  return command;
}

/** Asking for help is no failure. */
function usageCode(error: CommanderError): number {
  return error.exitCode === 0 ? 0 : 1;
}
