import type { Command } from "commander";

const known = new WeakMap<Command, readonly string[]>();

/** Adds examples to a command's help; the reference has them too. */
export function examples(command: Command, lines: readonly string[]): Command {
  known.set(command, lines);
  return command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

export function examplesOf(command: Command): readonly string[] {
  return known.get(command) ?? [];
}
