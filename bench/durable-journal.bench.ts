import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TorporClient } from "@torpor/sdk";
import { MemoryStore } from "../packages/core/src/testing/index.ts";
import { type Daemon, openDaemon } from "../packages/daemon/src/compose.ts";
import { readConfig } from "../packages/daemon/src/config.ts";
import { createLogger } from "../packages/daemon/src/log.ts";
import { openStore } from "../packages/daemon/src/stores/open-store.ts";
import { removeAll } from "../test/system/harness/remove-all.ts";
import { testImage } from "../test/system/harness/test-image.ts";
import type { Benchmark, BenchmarkContext } from "./lib/benchmark.ts";
import { median } from "./lib/median.ts";
import { holdMemory } from "./lib/subject.ts";
import { timed } from "./lib/timed.ts";

const name = "idle";

/**
 * What the journal costs an operation: its time with the store on the disk beside that with one in memory, in turn. Both daemons are in this process, and are
 * called without HTTP, which would make the journal's share smaller.
 */
export const benchmark: Benchmark = {
  name: "durable: journal",
  unit: "ms",
  bound: 1.1,
  async run(context) {
    const lifecycles = { value: await openHere(context, openStore), floor: await openHere(context, async () => new MemoryStore()) };
    const times = { pause: { value: [] as number[], floor: [] as number[] }, resume: { value: [] as number[], floor: [] as number[] } };
    for (let run = 0; run < context.runs; run++) {
      for (const operation of ["pause", "resume"] as const) {
        // What an operation leaves to be freed must not meet the next.
        await Promise.all([lifecycles.value.idle(), lifecycles.floor.idle()]);
        // The second of them meets what the first has left on the host, a sandbox that comes to itself: each is the second in turn.
        for (const side of run % 2 === 0 ? (["floor", "value"] as const) : (["value", "floor"] as const)) {
          times[operation][side].push((await timed(() => lifecycles[side][operation](name))).ms);
        }
      }
    }
    return Object.entries(times).map(([operation, { value, floor }]) => ({
      name: `${operation} with its journal on the disk, of one in memory`,
      value: median(value),
      floor: median(floor),
    }));
  },
};

/** A daemon with an idle sandbox that runs. */
async function openHere(context: BenchmarkContext, open: typeof openStore): Promise<Daemon["lifecycle"]> {
  const data = mkdtempSync(join(tmpdir(), "torpor-bench-"));
  context.onEnd(() => rm(data, { recursive: true }));
  const config = readConfig(["--data", data], {});
  const daemon = await openDaemon(config, createLogger("error"), open);
  context.onEnd(() => daemon.close());
  await daemon.listen();
  const client = new TorporClient({ socket: config.socketPath });
  context.onEnd(() => client.close());
  await client.images.import({ path: await testImage(), reference: "debian" });
  context.onEnd(() => removeAll(client));
  await client.create({ image: "debian", name });
  await holdMemory(client, name, 0);
  return daemon.lifecycle;
}
