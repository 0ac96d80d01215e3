import type { Operation } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { addListOptions, type ListOptions, printList } from "../list-output.ts";
import { forEach, printRecords } from "../several.ts";
import { table } from "../table.ts";
import { formatDuration } from "../values/duration.ts";

export function operationCommand(): Command {
  const command = new Command("operation")
    .description("look at what is done with sandboxes and was done, and give it up")
    .addCommand(listCommand())
    .addCommand(getCommand())
    .addCommand(cancelCommand());
  return examples(command, ["torpor operation list base", "torpor operation cancel op_aaaaaaaaaaaaaaaa"]);
}

function listCommand(): Command {
  const command = addListOptions(
    new Command("list").alias("ls").description("list a sandbox's operations, newest first").argument("<sandbox>", "id or name"),
  ).action(
    action(async (client, id: string, options: ListOptions) => {
      await printList(await client.operations(id), options, {
        id: (operation) => operation.id,
        table: (all) => table(["ID", "KIND", "STATUS", "PHASE", "BY", "TOOK", "ERROR"], all.map(rowOf)),
      });
      return undefined;
    }),
  );
  return examples(command, ["torpor operation list base", "torpor operation list --format '{id} {kind} {error.code}' base"]);
}

function getCommand(): Command {
  const command = new Command("get")
    .description("print operations as JSON; of several, a list")
    .argument("<operation...>", "ids")
    .option("--json", "JSON, which is the default")
    .action(action((client, ids: string[]) => printRecords(ids, (id) => client.operation(id))));
  return examples(command, ["torpor operation get op_aaaaaaaaaaaaaaaa"]);
}

function cancelCommand(): Command {
  const command = new Command("cancel")
    .description("give operations up: what they did is undone; refused once one can only go forward")
    .argument("<operation...>", "ids")
    .option("--json", "print the outcome as JSON")
    .action(action((client, ids: string[], options: { json?: boolean }) => forEach(ids, options, (id) => client.cancel(id))));
  return examples(command, ["torpor operation cancel op_aaaaaaaaaaaaaaaa"]);
}

function rowOf({ id, kind, status, phase, actor, startedAt, endedAt, error }: Operation): string[] {
  const took = formatDuration((endedAt === null ? Date.now() : Date.parse(endedAt)) - Date.parse(startedAt));
  return [id, kind, status, phase, actor, took, error?.message ?? "-"];
}
