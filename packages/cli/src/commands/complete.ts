import { Command } from "commander";
import { action } from "../action.ts";
import { complete } from "../complete.ts";
import { oneLine } from "../failure.ts";
import { print } from "../leave.ts";

/** What the shells' completions call, in a program that has all commands. */
export function completeCommand(): Command {
  return new Command("complete").argument("[words...]").action(
    action(async (client, words: string[], _options: object, { parent }: Command) => {
      const found = parent === null ? [] : await complete(parent, words, client);
      await print(found.map(({ word, about }) => `${word}\t${oneLine(about)}\n`).join(""));
      return undefined;
    }),
  );
}
