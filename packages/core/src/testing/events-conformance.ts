import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../ports/store.ts";
import { sandboxRecord } from "./records.ts";
import type { StoreHarness } from "./store-conformance.ts";

const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`;

/** What readers of events rely on. */
export function eventsConformance(name: string, make: () => Promise<StoreHarness>): void {
  describe(`${name} keeps the contract of events`, () => {
    let store: Store;
    beforeEach(async () => {
      ({ store } = await make());
    });
    afterEach(() => store.close());

    test("who reads on from the last number misses none and gets none twice, whoever commits meanwhile", async () => {
      const writers = 8;
      const rounds = 25;
      const seen: number[] = [];
      const types: string[] = [];
      const writing = Promise.all(
        Array.from({ length: writers }, async (_, writer) => {
          for (let round = 0; round < rounds; round++)
            await store.commit({ events: [anEvent(`${writer}.${round}.a`), anEvent(`${writer}.${round}.b`)] });
        }),
      );
      let over = false;
      void writing.finally(() => {
        over = true;
      });
      for (let last = false; !last; ) {
        last = over;
        for (const { seq, type } of await store.listEvents({ after: seen.at(-1) ?? 0, limit: 7 })) {
          seen.push(seq);
          types.push(type);
          last = false;
        }
      }
      await writing;
      expect(seen).toEqual([...seen].sort((a, b) => a - b));
      expect(new Set(types).size).toBe(writers * rounds * 2);
      expect(types).toHaveLength(writers * rounds * 2);
      expect(await store.eventBounds()).toEqual({ lost: 0, newest: seen.at(-1) });
    });

    test("it is known up to where events were deleted, of all and of each sandbox", async () => {
      expect(await store.eventBounds()).toEqual({ lost: 0, newest: 0 });
      const event = (sandboxId: string, day: number) => ({ ...anEvent("x"), sandboxId, at: at(day) });
      await store.commit({
        sandboxes: [sandboxRecord()],
        events: [event("sb_a", 1), event("sb_b", 1), event("sb_a", 5), event("sb_b", 5)],
      });
      await store.commit({ events: [event("sb_a", 6), event("sb_a", 7)] });
      await forget(store, { before: at(3), perSandbox: 10 });
      expect((await store.listEvents({})).map(({ seq }) => seq)).toEqual([3, 4, 5, 6]);
      expect(await store.eventBounds()).toEqual({ lost: 2, newest: 6 });
      expect(await store.eventBounds("sb_a")).toEqual({ lost: 1, newest: 6 });
      expect(await store.eventBounds("sb_b")).toEqual({ lost: 2, newest: 6 });
      // By number: the oldest of the sandbox that has too many, in the middle of the others'.
      await forget(store, { before: "", perSandbox: 2 });
      expect((await store.listEvents({})).map(({ seq }) => seq)).toEqual([4, 5, 6]);
      expect(await store.eventBounds()).toEqual({ lost: 3, newest: 6 });
      expect(await store.eventBounds("sb_a")).toEqual({ lost: 3, newest: 6 });
      expect(await store.eventBounds("sb_b")).toEqual({ lost: 2, newest: 6 });
      expect(await store.eventBounds("sb_c")).toEqual({ lost: 0, newest: 6 });
      // All of them: what was given stays given.
      await forget(store, { before: at(9), perSandbox: 10 });
      expect(await store.eventBounds()).toEqual({ lost: 6, newest: 6 });
      expect((await store.eventBounds("sb_a")).lost).toBe(6);
    });
  });
}

async function forget(store: Store, kept: { before: string; perSandbox: number }): Promise<void> {
  const retention = { now: at(8), undeliveredBefore: "", batch: 1, ...kept };
  for (let deleted = -1; deleted !== 0; ) deleted = await store.prune(retention);
}

function anEvent(type: string) {
  return { sandboxId: "sb_a", operationId: null, type, data: {}, at: at(1) };
}
