import { eventsConformance } from "./events-conformance.ts";
import { MemoryStore } from "./memory-store.ts";
import { outboxConformance } from "./outbox-conformance.ts";
import { storeConformance } from "./store-conformance.ts";

for (const conformance of [storeConformance, eventsConformance, outboxConformance])
  conformance("the in-memory store", async () => {
    const store = new MemoryStore();
    return { store, reopen: async () => store };
  });
