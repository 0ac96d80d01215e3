export { FakeClock } from "./fake-clock.ts";
export { MemoryCheckpoints } from "./memory-checkpoints.ts";
export { MemoryDisks } from "./memory-disks.ts";
export { MemoryEngine, type MemoryEngineOptions } from "./memory-engine.ts";
export { MemoryImages } from "./memory-images.ts";
export { MemoryNetwork } from "./memory-network.ts";
export { MemoryStore } from "./memory-store.ts";
export { MemoryWorld, type MemoryWorldOptions } from "./memory-world.ts";
export { SequenceIds } from "./sequence-ids.ts";
