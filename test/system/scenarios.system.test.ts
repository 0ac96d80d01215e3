import { Torpor } from "@torpor/sdk";
import { afterAll, beforeAll, describe, inject, test } from "vitest";
import { blocksFor } from "../documents/blocks.ts";
import { cliActions } from "./harness/scenarios/cli-actions.ts";
import { play, type Scenario, scenarios } from "./harness/scenarios/scenario.ts";
import { sdkActions } from "./harness/scenarios/sdk-actions.ts";

const shared = `scenarios-${process.pid}`;

let torpor: Torpor;
beforeAll(async () => {
  torpor = new Torpor({ socket: inject("torporSocket") });
  await torpor.create({ name: shared, image: "debian" });
});
afterAll(async () => {
  await (await torpor.get(shared)).remove({ force: true });
  torpor.close();
});

const clients = [
  ["the TypeScript SDK", "ts", () => sdkActions(torpor, inject("torporSocket"))],
  ["the command line", "cli", () => cliActions(inject("torporSocket"))],
] as const;

/** Those of the files, and that of the document. */
const all: readonly Scenario[] = [
  ...scenarios(),
  ...blocksFor(import.meta.url).map(({ text }) => ({ ...(JSON.parse(text) as Omit<Scenario, "id">), id: "document" })),
];

// Side by side: most of a command line's time is the start of its process.
describe.each(clients)("%s", (_title, short, actions) => {
  const named = all.map((scenario) => [[...(scenario.cases ?? []), scenario.id].join(" "), scenario] as const);
  test.concurrent.for(named)("%s", async ([_name, scenario], { onTestFinished }) => {
    const prefix = `${short}-${process.pid}-${scenario.id}`;
    onTestFinished(() => removeAll(prefix));
    await play(scenario, actions(), prefix, shared);
  });
});

async function removeAll(prefix: string): Promise<void> {
  for await (const sandbox of torpor.list()) if (sandbox.name.startsWith(`${prefix}-`)) await sandbox.remove({ force: true });
  for (const { id, name } of await torpor.snapshots.list()) if (name.startsWith(`${prefix}-`)) await torpor.snapshots.remove(id);
}
