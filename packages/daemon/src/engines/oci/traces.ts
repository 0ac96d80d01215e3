import { glob, rm, rmdir } from "node:fs/promises";
import path from "node:path";

/** What the runtimes of a data directory shared on the host. Only when none is left. */
export async function removeTraces(instance: string): Promise<void> {
  await rm(path.join("/run/torpor", instance), { recursive: true, force: true });
  await rmdir("/run/torpor").catch(() => {}); // other data directories may have runtimes
  for (const pattern of [`/sys/fs/cgroup/torpor-${instance}`, `/sys/fs/cgroup/*/torpor-${instance}`]) {
    for await (const group of glob(pattern)) {
      await rmdir(group).catch(() => {});
    }
  }
}
