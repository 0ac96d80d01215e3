import type { Difference, DiffOptions, TorporClient } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { describeDifference } from "../describe-difference.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { print, printJson } from "../leave.ts";
import { parseCount } from "../values/count.ts";

export function diffCommand(): Command {
  const command = new Command("diff")
    .description("list the files that a sandbox or snapshot has otherwise than its image, or another otherwise than it; wakes nothing")
    .argument("<sandbox>", "id or name of a sandbox, or else of a snapshot")
    .argument("[other]", "the same: what this one has otherwise")
    .option("--limit <number>", "most differences; default: all", parseCount)
    .option("--json", "print the differences as JSON")
    .action(
      action(async (client, sandbox: string, other: string | undefined, { limit, json }: { limit?: number; json?: boolean }) => {
        const options = { ...(other === undefined ? {} : { with: other }), ...(limit === undefined ? {} : { limit }) };
        const truncated = await (json === true ? printAll(client, sandbox, options) : printLines(client, sandbox, options));
        if (truncated) say(`there are more than these ${limit}`);
        return undefined;
      }),
    );
  return examples(command, [
    "torpor diff base",
    "torpor diff base try-a",
    "torpor diff before-upgrade base",
    "torpor diff --json base try-a",
  ]);
}

/** Each as it comes. */
async function printLines(client: TorporClient, sandbox: string, options: DiffOptions): Promise<boolean> {
  const differences = client.diff(sandbox, options);
  for (;;) {
    const next = await differences.next();
    if (next.done === true) return next.value.truncated;
    await print(`${describeDifference(next.value)}\n`);
  }
}

/** One value, so only when all are there. */
async function printAll(client: TorporClient, sandbox: string, options: DiffOptions): Promise<boolean> {
  const all: Difference[] = [];
  const differences = client.diff(sandbox, options);
  for (;;) {
    const next = await differences.next();
    if (next.done === true) {
      await printJson({ differences: all, truncated: next.value.truncated });
      return next.value.truncated;
    }
    all.push(next.value);
  }
}
