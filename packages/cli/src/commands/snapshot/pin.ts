import type { UpdateSnapshotRequest } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../../action.ts";
import { examples } from "../../examples.ts";
import { forEach } from "../../several.ts";
import { expiryIn } from "../../values/duration.ts";

export function pinCommand(): Command {
  const command = base("pin", "keep snapshots for good: pinned ones neither expire nor can be removed").action(
    action(async (client, ids: string[], options: { json?: boolean }) =>
      forEach(ids, options, (id) => client.snapshots.update(id, { pinned: true })),
    ),
  );
  return examples(command, ["torpor snapshot pin warm"]);
}

export function unpinCommand(): Command {
  const command = base("unpin", "let snapshots expire and be removed again")
    .option("--expires <duration>", "from now on; default: when it said before, if it did", expiryIn)
    .action(
      action(async (client, ids: string[], options: { expires?: string; json?: boolean }) => {
        const expiry: UpdateSnapshotRequest = options.expires === undefined ? {} : { expiresAt: options.expires };
        return forEach(ids, options, (id) => client.snapshots.update(id, { pinned: false, ...expiry }));
      }),
    );
  return examples(command, ["torpor snapshot unpin warm", "torpor snapshot unpin --expires 7d warm"]);
}

function base(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument("<snapshot...>", "id or name")
    .option("--json", "print the snapshot's record as JSON");
}
