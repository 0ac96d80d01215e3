import { TorporClient } from "@torpor/sdk";
import { inject, onTestFinished } from "vitest";
import { removeSandbox } from "./remove-all.ts";

declare module "vitest" {
  interface ProvidedContext {
    torporSocket: string;
    torporData: string;
  }
}

/** The daemon that all test files share: most tests need only a sandbox of their own. */
export function sharedClient(): TorporClient {
  return new TorporClient({ socket: inject("torporSocket") });
}

let count = 0;

/** A name that no other test has; the sandbox under it, and its forks, are removed when the test ends. */
export function sandboxName(client: TorporClient, label = "test"): string {
  const name = `${label}-${process.pid}-${count++}`;
  onTestFinished(async () => {
    for (const sandbox of await client.list()) {
      if (sandbox.name === name || sandbox.name.startsWith(`${name}-`)) {
        await removeSandbox(client, sandbox.id);
      }
    }
  });
  return name;
}

/** A snapshot's name that no other test has; the snapshot is removed when the test ends. */
export function snapshotName(client: TorporClient): string {
  const name = `kept-${process.pid}-${count++}`;
  onTestFinished(async () => {
    for (const snapshot of await client.snapshots.list()) {
      if (snapshot.name === name) {
        await client.snapshots.update(snapshot.id, { pinned: false });
        await client.snapshots.remove(snapshot.id);
      }
    }
  });
  return name;
}

/** A running sandbox from the test image. */
export async function startSandbox(client: TorporClient, request: Partial<Parameters<TorporClient["create"]>[0]> = {}): Promise<string> {
  const name = sandboxName(client);
  await client.create({ image: "debian", name, ...request });
  return name;
}
