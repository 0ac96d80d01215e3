import { engineConformance } from "./engine-conformance.ts";
import type { EngineHarness } from "./engine-harness.ts";
import { MemoryWorld } from "./memory-world.ts";

engineConformance("the in-memory engine", () => harness(new MemoryWorld()));
engineConformance("the in-memory engine without pause", () => harness(new MemoryWorld({ unsupported: ["pause", "resume", "fork"] })));

async function harness({ engine, disks, checkpoints, ids }: MemoryWorld): Promise<EngineHarness> {
  let ticks = 0;
  return {
    engine,
    disks,
    checkpoints,
    ids,
    image: { location: "memory:image", digest: `sha256:${"0".repeat(64)}` },
    resources: { memoryBytes: 128 * 1024 * 1024, cpus: 1, diskBytes: 1024 * 1024, pids: 64 },
    network: null,
    counter: ["counter"],
    echoServer: (port) => ["listen", String(port)],
    async advance(lines) {
      for (let line = 0; line < lines; line++) engine.tick();
      ticks += lines;
    },
    passed: () => ticks,
    async corrupt(checkpointId, part) {
      checkpoints.corrupt(checkpointId, part);
    },
    async dispose() {},
  };
}
