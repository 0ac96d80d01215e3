import type { Command } from "commander";
import { print, printJson } from "./leave.ts";
import { parseTemplate } from "./template.ts";

export interface ListOptions {
  readonly quiet?: boolean;
  readonly json?: boolean;
  readonly format?: (record: unknown) => string;
}

/** How a list may be printed: every command that prints one has these. */
export function addListOptions(command: Command, what = "ids"): Command {
  return command
    .option("-q, --quiet", `print ${what} only`)
    .option(
      "--format <template>",
      "print a line for each, such as '{name} {state}': fields of the record in braces, {a.b} for one within",
      parseTemplate,
    )
    .option("--json", "print the records as JSON");
}

export interface Printing<T> {
  readonly id: (record: T) => string;
  /** For people. */
  readonly table: (records: readonly T[]) => string;
}

export async function printList<T>(records: readonly T[], { quiet, json, format }: ListOptions, { id, table }: Printing<T>): Promise<void> {
  if (json === true) await printJson(records);
  else if (format !== undefined) await print(records.map((record) => `${format(record)}\n`).join(""));
  else if (quiet === true) await print(records.map((record) => `${id(record)}\n`).join(""));
  else await print(table(records));
}
