import { globSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { eventually } from "./inside.ts";
import type { TestDaemon } from "./test-daemon.ts";

/** What of a data directory's runtimes, disks and checkpoints is on the host, by their ids, is what its records say. */
export async function hostAgrees(daemon: TestDaemon): Promise<void> {
  const sandboxes = await daemon.client.list();
  const snapshots = await daemon.client.snapshots.list();
  const states = [...sandboxes, ...snapshots];
  const runtimes = sandboxes.flatMap(({ runtimeId }) => runtimeId ?? []).sort();
  const expected = {
    runtimes,
    groups: runtimes,
    interfaces: runtimes.map((id) => id.slice(-8)).sort(),
    disks: states.length,
    checkpoints: states.flatMap(({ checkpoint }) => checkpoint?.id ?? []).sort(),
  };
  // What an operation leaves is freed a moment after its answer.
  const agrees = (found: object) => JSON.stringify(found) === JSON.stringify(expected);
  const found = await eventually(async () => holdings(daemon), agrees).catch(() => holdings(daemon));
  expect(found).toEqual(expected);
}

export function holdings(daemon: TestDaemon) {
  const { data, instance } = daemon;
  const inPool = (name: string) => listed(path.join(data, "pool", name)).filter((entry) => !entry.startsWith("."));
  const groups = globSync(`/sys/fs/cgroup/{torpor-${instance},*/torpor-${instance}}/rt_*`).map((group) => path.basename(group));
  const prefix = `tp${instance.slice(0, 4)}`;
  return {
    runtimes: listed(path.join("/run/torpor", instance)).filter((name) => name.startsWith("rt_")),
    groups: [...new Set(groups)].sort(),
    interfaces: listed("/sys/class/net")
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length)),
    disks: inPool("disks").length,
    checkpoints: inPool("checkpoints"),
  };
}

function listed(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
