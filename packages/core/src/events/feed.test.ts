import type { Event } from "@torpor/contract";
import { describe, expect, test } from "vitest";
import type { NewEvent } from "../ports/store.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { operationRecord, sandboxRecord } from "../testing/records.ts";
import { type Batch, EventFeed } from "./feed.ts";
import { watchedStore } from "./watched-store.ts";

const at = "2026-01-01T00:00:00.000Z";

function make() {
  const clock = new FakeClock({ auto: false });
  const inner = new MemoryStore();
  const store = watchedStore(inner, () => feed.announce());
  const feed: EventFeed = new EventFeed({ store, clock });
  const add = (...types: string[]) => store.commit({ events: types.map((type) => anEvent({ type })) });
  return { clock, inner, store, feed, add };
}

function anEvent(changed: Partial<NewEvent> = {}): NewEvent {
  return { sandboxId: "sb_a", operationId: null, type: "x", data: {}, at, ...changed };
}

/** A reader of a feed, with what it has got. */
function reader(feed: EventFeed, filter: Parameters<EventFeed["follow"]>[0] = {}, after?: number) {
  const leaving = new AbortController();
  const batches = feed.follow(filter, { ...(after === undefined ? {} : { after }), signal: leaving.signal });
  const next = async (): Promise<Batch> => {
    const { value, done } = await batches.next();
    if (done === true) throw new Error("the stream ended");
    return value;
  };
  return { next, leave: () => leaving.abort(), end: () => batches.next() };
}

const typesOf = (events: readonly Event[]) => events.map(({ type }) => type);

/** What waits for nothing from outside is done. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("following events", () => {
  test("without a number it begins now; with one, right after it; with 0, at the oldest", async () => {
    const { feed, add } = make();
    await add("one", "two");
    const [fresh, again, whole] = [reader(feed), reader(feed, {}, 1), reader(feed, {}, 0)];
    expect(await fresh.next()).toEqual({ events: [], cursor: 2 });
    expect(await again.next()).toEqual({ events: [], cursor: 1 });
    expect(await whole.next()).toEqual({ events: [], cursor: 0 });
    expect(typesOf((await again.next()).events)).toEqual(["two"]);
    expect(typesOf((await whole.next()).events)).toEqual(["one", "two"]);
    const waiting = fresh.next();
    await add("three");
    expect(await waiting).toMatchObject({ events: [{ type: "three", seq: 3 }], cursor: 3 });
    for (const one of [fresh, again, whole]) one.leave();
  });

  test("a commit between two looks is not slept through", async () => {
    const { feed, add } = make();
    const one = reader(feed);
    await one.next();
    for (let count = 1; count <= 50; count++) {
      const next = one.next();
      // After more and more turns of the loop: somewhere between its read and its sleep.
      for (let turn = 0; turn < count % 12; turn++) await Promise.resolve();
      await add(`e${count}`);
      expect(typesOf((await next).events)).toEqual([`e${count}`]);
    }
    one.leave();
  });

  test("when it is quiet, that is said, and others' commits are seen", async () => {
    const { clock, feed, inner } = make();
    const one = reader(feed);
    await one.next();
    const quiet = one.next();
    await settled();
    clock.advance(10_000);
    expect(await quiet).toEqual({ events: [], cursor: 0 });
    const next = one.next();
    await settled();
    // Nobody announces it.
    await inner.commit({ events: [anEvent({ type: "foreign" })] });
    clock.advance(10_000);
    const batch = await next;
    expect(typesOf(batch.events.length > 0 ? batch.events : (await one.next()).events)).toEqual(["foreign"]);
    one.leave();
  });

  test("what is filtered away counts as read", async () => {
    const { clock, feed, store, add } = make();
    await store.commit({ sandboxes: [sandboxRecord(), sandboxRecord({ id: "sb_b", name: "b", address: null })] });
    const [byType, bySandbox] = [reader(feed, { types: ["sandbox.*", "z"] }), reader(feed, { sandbox: "b" })];
    for (const one of [byType, bySandbox]) await one.next();
    const waiting = [byType.next(), bySandbox.next()] as const;
    await add("memory_lost", "sandboxed", "y");
    await settled();
    clock.advance(10_000);
    for (const quiet of waiting) expect(await quiet).toEqual({ events: [], cursor: 3 });
    const more = [byType.next(), bySandbox.next()] as const;
    await store.commit({ events: [anEvent({ type: "sandbox.paused" }), anEvent({ sandboxId: "sb_b", type: "q" })] });
    expect(await more[0]).toMatchObject({ events: [{ seq: 4 }], cursor: 5 });
    expect(await more[1]).toMatchObject({ events: [{ seq: 5 }], cursor: 5 });
    for (const one of [byType, bySandbox]) one.leave();
  });

  test("a reader that leaves leaves nothing behind, wherever it stands", async () => {
    const { clock, feed, add } = make();
    const asleep = reader(feed);
    await asleep.next();
    const sleeping = asleep.end();
    const paused = reader(feed);
    await paused.next();
    await settled();
    expect(feed.load).toEqual({ readers: 2, waiting: 1 });
    asleep.leave();
    paused.leave();
    expect(await sleeping).toMatchObject({ done: true });
    expect(await paused.end()).toMatchObject({ done: true });
    expect(feed.load).toEqual({ readers: 0, waiting: 0 });
    await add("later");
    clock.advance(60_000);
    expect(feed.load).toEqual({ readers: 0, waiting: 0 });
  });

  test("there are 256 readers at most", async () => {
    const { feed } = make();
    const all = Array.from({ length: 256 }, () => reader(feed));
    for (const one of all) await one.next();
    await expect(reader(feed).next()).rejects.toMatchObject({ code: "too_many_streams" });
    all[0]?.leave();
    await all[0]?.end();
    await reader(feed).next();
  });

  test("a slow reader gets at most so many at a time, and all of them", async () => {
    const { feed, add } = make();
    const one = reader(feed);
    await one.next();
    await add(...Array.from({ length: 450 }, (_, index) => String(index)));
    const sizes = [await one.next(), await one.next(), await one.next()].map(({ events }) => events.length);
    expect(sizes).toEqual([200, 200, 50]);
    one.leave();
  });
});

describe("a number that can't be read on from", () => {
  const forgetting = { now: at, undeliveredBefore: "", perSandbox: 2, before: "", batch: 100 };

  test("is refused with the oldest that can, as a list and as a stream", async () => {
    const { feed, add, store } = make();
    await add("1", "2", "3", "4", "5");
    await store.prune(forgetting);
    const refusal = { code: "events_gone", details: { after: 2, oldest: 3 } };
    await expect(feed.list({}, { after: 2 })).rejects.toMatchObject(refusal);
    await expect(reader(feed, {}, 2).next()).rejects.toMatchObject(refusal);
    expect(typesOf((await feed.list({}, { after: 3 })).events)).toEqual(["4", "5"]);
    // Who names no number wants what there is.
    expect(typesOf((await feed.list({}, {})).events)).toEqual(["4", "5"]);
    expect(typesOf((await feed.list({}, { after: 0 })).events)).toEqual(["4", "5"]);
  });

  test("is one of the sandbox asked for: another's loss is none", async () => {
    const { feed, add, store } = make();
    await store.commit({ events: [anEvent({ sandboxId: "sb_b" })] });
    await add("2", "3", "4");
    await store.prune(forgetting);
    expect((await feed.list({ sandbox: "sb_b" }, { after: 1 })).events).toEqual([]);
    await expect(feed.list({ sandbox: "sb_a" }, { after: 1 })).rejects.toMatchObject({ code: "events_gone", details: { oldest: 2 } });
  });

  test("is noticed also by a reader that was overtaken", async () => {
    const { feed, add, store } = make();
    const slow = reader(feed);
    await slow.next();
    await add("1", "2", "3", "4");
    await store.prune(forgetting);
    await expect(slow.next()).rejects.toMatchObject({ code: "events_gone", details: { after: 0, oldest: 2 } });
    expect(feed.load.readers).toBe(0);
  });

  test("may be of another store", async () => {
    const { feed, add } = make();
    await add("1");
    await expect(feed.list({}, { after: 2 })).rejects.toMatchObject({ code: "invalid_request", details: { after: 2, newest: 1 } });
  });
});

test("a list has pages; the next one begins behind what was passed over", async () => {
  const { feed, add, store } = make();
  await add("a", "b", "a", "b", "a", "c");
  const first = await feed.list({ types: ["a"] }, { limit: 2 });
  expect(first).toMatchObject({ events: [{ seq: 1 }, { seq: 3 }], next: 3 });
  expect(await feed.list({ types: ["a"] }, { after: first.next, limit: 2 })).toMatchObject({ events: [{ seq: 5 }], next: 6 });
  await expect(feed.list({ sandbox: "nobody" }, {})).rejects.toMatchObject({ code: "sandbox_not_found" });
  await store.commit({ operations: [operationRecord({ sandboxId: "sb_old", status: "failed" })] });
  expect((await feed.list({ sandbox: "sb_old" }, {})).events).toEqual([]);
});
