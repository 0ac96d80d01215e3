import { MemoryStore } from "./memory-store.ts";
import { storeConformance } from "./store-conformance.ts";

storeConformance("the in-memory store", async () => {
  const store = new MemoryStore();
  return { store, reopen: async () => store };
});
