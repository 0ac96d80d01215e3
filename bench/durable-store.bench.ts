import { globSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryWorld } from "../packages/core/src/testing/index.ts";
import { openSqliteStore } from "../packages/daemon/src/stores/sqlite/sqlite-store.ts";
import type { Benchmark } from "./lib/benchmark.ts";

const operations = 1000;
const sandboxes = 10;

/** The lifecycle on the engine in memory, the store on the disk: its records are those of the real engine but for a few digits. */
export const benchmark: Benchmark = {
  name: "durable: store",
  unit: "MB",
  bound: 1,
  async run(context) {
    const directory = mkdtempSync(join(tmpdir(), "torpor-bench-"));
    context.onEnd(() => rmSync(directory, { recursive: true }));
    const store = await openSqliteStore(join(directory, "torpor.db"));
    context.onEnd(() => store.close());
    const lifecycle = new MemoryWorld({ store }).lifecycle();
    const bytes = () => globSync(join(directory, "*")).reduce((sum, file) => sum + statSync(file).size, 0);
    for (let i = 0; i < sandboxes; i++) await lifecycle.create({ image: "debian", name: `sandbox-${i}` });
    for (let i = 0; i < operations; i++) {
      const name = `sandbox-${i % sandboxes}`;
      await (Math.floor(i / sandboxes) % 2 === 0 ? lifecycle.pause(name) : lifecycle.resume(name));
    }
    await lifecycle.idle();
    await lifecycle.forget();
    const kept = bytes();
    return [{ name: `store after ${operations} operations, with its log of writes`, value: kept / 1e6, floor: 10 }];
  },
};
