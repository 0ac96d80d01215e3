import { checkpointsConformance } from "./checkpoints-conformance.ts";
import { comparisonConformance } from "./comparison-conformance.ts";
import { disksConformance } from "./disks-conformance.ts";
import { imagesConformance } from "./images-conformance.ts";
import { MemoryCheckpoints } from "./memory-checkpoints.ts";
import { MemoryComparison } from "./memory-comparison.ts";
import { MemoryDisks } from "./memory-disks.ts";
import { MemoryImages } from "./memory-images.ts";
import { MemoryReceivers } from "./memory-receivers.ts";
import { receiversConformance } from "./receivers-conformance.ts";

comparisonConformance("the in-memory comparison", async () => {
  const disks = new MemoryDisks();
  let count = 0;
  return {
    comparison: new MemoryComparison(disks),
    image: { disk: null, image: "memory:image" },
    async tree(files) {
      const id = `dk_${count++}`;
      await disks.create(id, 1024);
      for (const [path, content] of Object.entries(files)) disks.open(id).files.set(path, { content, mode: 0o644 });
      return { disk: disks.locate(id), image: "memory:image" };
    },
    async dispose() {},
  };
});

import { MemorySchedules } from "./memory-schedules.ts";
import { MemoryTokens, signInMemory } from "./memory-tokens.ts";
import { schedulesConformance } from "./schedules-conformance.ts";
import { tokensConformance } from "./tokens-conformance.ts";

disksConformance("the in-memory disks", async () => {
  const disks = new MemoryDisks();
  return {
    disks,
    async write(id, text) {
      disks.open(id).files.set("/content", { content: text, mode: 0o644 });
    },
    read: async (id) => disks.open(id).files.get("/content")?.content ?? "",
    async dispose() {},
  };
});

checkpointsConformance("the in-memory checkpoints", async () => {
  const checkpoints = new MemoryCheckpoints();
  checkpoints.freeBytes = 1024 ** 4;
  return {
    checkpoints,
    async write(location, part, text) {
      checkpoints.partsAt(location).set(part, text);
    },
    read: async (location, part) => checkpoints.partsAt(location).get(part),
    async damageManifest(id) {
      checkpoints.corrupt(id, "manifest");
    },
    async dispose() {},
  };
});

imagesConformance("the in-memory images", async () => {
  const images = new MemoryImages({ present: [], remote: [] });
  return { images, add: (reference) => images.import({ reference, path: "/none" }), async dispose() {} };
});

receiversConformance("the in-memory receivers", async () => {
  const receivers = new MemoryReceivers();
  return {
    receivers,
    async open(...statuses) {
      receivers.at("memory:", async () => {
        const status = statuses.shift();
        if (status === undefined) return new Promise(() => {});
        return { status, error: status < 300 ? null : `HTTP status ${status}` };
      });
      return "memory:";
    },
    nobody: "memory:nobody",
    refused: "memory:refused",
    came: () => receivers.posts.map(({ id }) => id),
    async [Symbol.asyncDispose]() {},
  };
});
schedulesConformance("the in-memory schedules", new MemorySchedules());
tokensConformance("the in-memory tokens", new MemoryTokens(), signInMemory);
