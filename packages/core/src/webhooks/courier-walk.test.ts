import fc from "fast-check";
import { expect, test } from "vitest";
import type { SignedPost } from "../ports/receivers.ts";
import { down, taken } from "../testing/memory-receivers.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { MemoryWorld } from "../testing/memory-world.ts";
import { webhookRecord } from "../testing/records.ts";
import { walkRuns, walkSeed } from "../testing/walk-seed.ts";

const { url } = webhookRecord();
const seqOf = ({ id }: SignedPost) => Number(id.split("_").at(-1));

async function allEnded(store: MemoryStore): Promise<void> {
  while ((await store.countDeliveries()).some(({ status }) => status === "pending")) await new Promise((resolve) => setImmediate(resolve));
}

test("whatever fails and wherever the daemon is killed, each event arrives, those of a sandbox in their order", async () => {
  const round = fc.record({
    sandboxes: fc.array(fc.constantFrom("sb_a", "sb_b", "sb_c"), { maxLength: 6 }),
    /** How many attempts fail first. */
    failures: fc.nat(3),
    killAfter: fc.nat(25),
  });
  let repeated = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 6 }), async (rounds) => {
      const store = new MemoryStore();
      const world = new MemoryWorld({ store });
      await store.commit({ webhooks: [webhookRecord()] });
      let failures = 0;
      const had = new Set<number>();
      world.receivers.at(url, async (message) => {
        for (let turn = 0; turn < (world.receivers.posts.length * 7) % 5; turn++) await Promise.resolve();
        if (failures-- > 0) return down;
        if (had.has(seqOf(message))) repeated++;
        had.add(seqOf(message));
        return taken;
      });
      for (const { sandboxes, failures: some, killAfter } of rounds) {
        failures = some;
        const { lifecycle, kill } = world.daemon();
        const at = world.clock.now().toISOString();
        await store.commit({ events: sandboxes.map((sandboxId) => ({ sandboxId, operationId: null, type: "x", data: {}, at })) });
        await lifecycle.recover();
        for (let turn = 0; turn < killAfter; turn++) await Promise.resolve();
        kill();
      }
      failures = 0;
      const { lifecycle } = world.daemon();
      await lifecycle.recover();
      await allEnded(store);
      const events = await store.listEvents({});
      for (const sandboxId of ["sb_a", "sb_b", "sb_c"]) {
        const sent = world.receivers.posts.filter(({ body }) => JSON.parse(body).data.sandboxId === sandboxId).map(seqOf);
        // Repeated ones follow each other: what came back was the one that was on its way, never one before it.
        const inOrder = sent.filter((seq, index) => seq !== sent[index - 1]);
        expect(inOrder).toEqual(events.filter((event) => event.sandboxId === sandboxId).map(({ seq }) => seq));
      }
    }),
    { numRuns: walkRuns(150, process.env.TORPOR_WALKS), seed: walkSeed(process.env.TORPOR_WALK_SEED) },
  );
  // Kills did fall between an answer and its entry.
  expect(repeated).toBeGreaterThan(0);
});
