import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { forEach, resultOf } from "../several.ts";
import { formatSize } from "../values/size.ts";

export function pauseCommand(): Command {
  const command = new Command("pause")
    .description("save a sandbox's memory to disk and free what it held; its processes go on after resume")
    .argument("<sandbox...>", "id or name")
    .option("--files-only", "keep files only: processes end as in a shutdown")
    .option("--json", "print the outcome as JSON")
    .action(
      action(async (client, ids: string[], options: { filesOnly?: boolean; json?: boolean }) =>
        forEach(ids, options, async (id) => {
          const answer = await client.pause(id, options.filesOnly === true ? { memory: false } : {});
          tell(id, resultOf(answer));
          return answer;
        }),
      ),
    );
  return examples(command, ["torpor pause base", "torpor pause --files-only a b c"]);
}

function tell(id: string, { memory, releasedBytes, checkpointBytes }: Readonly<Record<string, unknown>>): void {
  if (typeof releasedBytes !== "number") return;
  const checkpoint =
    memory === true && typeof checkpointBytes === "number" ? `, checkpoint of ${formatSize(checkpointBytes)}` : ", files only";
  say(`paused ${id}: ${formatSize(releasedBytes)} of memory released${checkpoint}`);
}
