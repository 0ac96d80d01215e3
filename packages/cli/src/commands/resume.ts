import type { ResumeRequest } from "@torpor/sdk/calls";
import { Command, Option } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { oneLine, say } from "../failure.ts";
import { forEach, resultOf } from "../several.ts";
import { type WaitCapacity, waitCapacityOption, waitingForRoom } from "../values/wait-capacity.ts";

type Memory = NonNullable<ResumeRequest["memory"]>;

export function resumeCommand(): Command {
  const command = new Command("resume")
    .description("bring a paused sandbox back; its processes go on where they left off")
    .argument("<sandbox...>", "id or name")
    .addOption(
      new Option(
        "--memory <mode>",
        "prefer: fresh processes if the memory can't be restored; require: an error then; discard: fresh processes",
      ).choices(["prefer", "require", "discard"]),
    )
    .addOption(waitCapacityOption())
    .option("--json", "print the outcome as JSON")
    .action(
      action(async (client, ids: string[], options: WaitCapacity & { memory?: Memory; json?: boolean }) =>
        forEach(ids, options, async (id) => {
          const answer = await client.resume(id, options.memory === undefined ? {} : { memory: options.memory }, waitingForRoom(options));
          tell(id, resultOf(answer));
          return answer;
        }),
      ),
    );
  return examples(command, ["torpor resume base", "torpor resume --memory require base"]);
}

/** Lost memory is never passed over in silence. */
function tell(id: string, { restored, reason }: Readonly<Record<string, unknown>>): void {
  if (restored !== "files") return;
  say(
    `torpor: sandbox ${id} came back with its files only, its memory and processes are lost: ${typeof reason === "string" ? oneLine(reason) : "no reason given"}`,
  );
}
