import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TorporClient } from "@torpor/sdk";
import { type Daemon, openDaemon } from "../packages/daemon/src/compose.ts";
import { readConfig } from "../packages/daemon/src/config.ts";
import { listenOnSocket } from "../packages/daemon/src/http/listen.ts";
import { createLogger } from "../packages/daemon/src/log.ts";
import { openStore } from "../packages/daemon/src/stores/open-store.ts";
import { testImage } from "../test/system/harness/test-image.ts";
import type { Benchmark, BenchmarkContext, NamedMeasurement } from "./lib/benchmark.ts";
import { median } from "./lib/median.ts";
import { holdMemory } from "./lib/subject.ts";
import { timed } from "./lib/timed.ts";

/** Times in ms that commits took, since they were last asked for. */
class CommitTimes {
  #ms = 0;

  readonly open: typeof openStore = async (options) => {
    const store = await openStore(options);
    return {
      ...store,
      commit: async (change) => {
        const { ms } = await timed(() => store.commit(change));
        this.#ms += ms;
      },
    };
  };

  take(): number {
    const ms = this.#ms;
    this.#ms = 0;
    return ms;
  }
}

/**
 * What the journal costs an operation: its time as it is beside its time without that of its commits, those beside a phase counted too, although nobody waits
 * for them. The daemon is in this process, so that its store can be watched, and is called without HTTP, which would make the journal's share smaller.
 */
export const benchmark: Benchmark = {
  name: "durable: journal",
  unit: "ms",
  bound: 1.1,
  async run(context) {
    const commits = new CommitTimes();
    const { lifecycle, client } = await openHere(context, commits);
    await client.create({ image: "debian", name: "idle" });
    await holdMemory(client, "idle", 0);
    const rounds = { pause: new Rounds(), resume: new Rounds() };
    for (let run = 0; run < context.runs; run++) {
      for (const name of ["pause", "resume"] as const) {
        await lifecycle.idle();
        commits.take();
        const { ms } = await timed(() => lifecycle[name]("idle"));
        rounds[name].add(ms, commits.take());
      }
    }
    return Object.entries(rounds).map(([name, measured]) => measured.result(`${name} with its journal, of the same without`));
  },
};

class Rounds {
  readonly #whole: number[] = [];
  readonly #without: number[] = [];

  add(ms: number, commitMs: number): void {
    this.#whole.push(ms);
    this.#without.push(ms - commitMs);
  }

  result(name: string): NamedMeasurement {
    return { name, value: median(this.#whole), floor: median(this.#without) };
  }
}

async function openHere(
  context: BenchmarkContext,
  commits: CommitTimes,
): Promise<{ lifecycle: Daemon["lifecycle"]; client: TorporClient }> {
  const data = mkdtempSync(join(tmpdir(), "torpor-bench-"));
  context.onEnd(() => rm(data, { recursive: true }));
  const config = readConfig(["--data", data], {});
  const daemon = await openDaemon(config, createLogger("error"), commits.open);
  context.onEnd(() => daemon.close());
  await listenOnSocket(daemon.app, config.socketPath);
  const client = new TorporClient({ socket: config.socketPath });
  context.onEnd(() => client.close());
  context.onEnd(async () => {
    for (const { id } of await client.list()) await client.remove(id, { force: true });
  });
  await client.images.import({ path: await testImage(), reference: "debian" });
  return { lifecycle: daemon.lifecycle, client };
}
