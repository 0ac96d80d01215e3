import { describe, expect, test } from "vitest";
import type { PostOutcome, SignedPost } from "../ports/receivers.ts";
import type { Store } from "../ports/store.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { down, taken } from "../testing/memory-receivers.ts";
import { MemoryWorld } from "../testing/memory-world.ts";
import { webhookRecord } from "../testing/records.ts";
import { Courier } from "./courier.ts";

const url = webhookRecord().url;
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await settled();
}

const pending = async (store: Store) => (await store.countDeliveries()).find(({ status }) => status === "pending")?.count ?? 0;
const seqOf = ({ id }: SignedPost) => Number(id.split("_").at(-1));

function make({ auto = true }: { auto?: boolean } = {}) {
  const world = new MemoryWorld({ clock: new FakeClock({ auto }) });
  const ports = world.ports();
  const courier = new Courier(ports);
  const emit = async (...sandboxes: string[]) => {
    const at = world.clock.now().toISOString();
    await world.store.commit({ events: sandboxes.map((sandboxId) => ({ sandboxId, operationId: null, type: "x", data: {}, at })) });
    courier.consider();
  };
  return { ...world.ports(), world, courier, emit, receivers: world.receivers, clock: world.clock };
}

/** A receiver that answers when it is told. */
function slowly() {
  const held: { message: SignedPost; answer: (outcome: PostOutcome) => void }[] = [];
  const answer = (message: SignedPost) =>
    new Promise<PostOutcome>((resolve) => {
      held.push({ message, answer: resolve });
    });
  return { held, answer };
}

describe("deliveries", () => {
  test("go out in the order of a sandbox's events, one at a time, and side by side for different sandboxes", async () => {
    const { store, receivers, courier, emit } = make();
    const { held, answer } = slowly();
    receivers.at(url, answer);
    await store.commit({ webhooks: [webhookRecord()] });
    await emit("sb_a", "sb_a", "sb_b", "sb_a");
    await until(() => held.length === 2);
    expect(held.map(({ message }) => seqOf(message))).toEqual([1, 3]);
    held[0]?.answer(taken);
    await until(() => held.length === 3);
    expect(seqOf(held[2]!.message)).toBe(2);
    held[1]?.answer(taken);
    held[2]?.answer(taken);
    await until(() => held.length === 4);
    held[3]?.answer(taken);
    await until(async () => (await pending(store)) === 0);
    expect(receivers.posts.map(seqOf)).toEqual([1, 3, 2, 4]);
    await courier.stop();
  });

  test("a message says the same at each attempt, under the same id, and the time of the attempt", async () => {
    const { store, receivers, clock, emit } = make({ auto: false });
    let up = false;
    receivers.at(url, () => (up ? taken : down));
    await store.commit({ webhooks: [webhookRecord()] });
    await emit("sb_a");
    await until(() => receivers.posts.length === 1);
    await settled();
    clock.advance(1000);
    await until(() => receivers.posts.length === 2);
    up = true;
    await settled();
    clock.advance(4999);
    await settled();
    expect(receivers.posts).toHaveLength(2);
    clock.advance(1);
    await until(async () => (await pending(store)) === 0);
    const [first, ...others] = receivers.posts;
    for (const other of others) expect({ ...other, at: first?.at }).toEqual(first);
    expect(others.map(({ at }) => at.getTime() - first!.at.getTime())).toEqual([1000, 6000]);
    const [delivery] = await store.listDeliveries({ webhookId: "wh_a", limit: 1 });
    expect(delivery).toMatchObject({ status: "delivered", attempts: 3, lastStatus: 204, lastError: null });
  });

  test("are given up after a day, and the next one has its turn", async () => {
    const { store, receivers, clock, emit, world } = make();
    let broken = true;
    receivers.at(url, () => (broken ? { status: 500, error: "HTTP status 500" } : taken));
    await store.commit({ webhooks: [webhookRecord()] });
    const began = clock.now().getTime();
    await emit("sb_a");
    await until(async () => (await pending(store)) === 0);
    const [dead] = await store.listDeliveries({ webhookId: "wh_a", limit: 1 });
    expect(dead).toMatchObject({ status: "dead", lastStatus: 500, lastError: "HTTP status 500" });
    const lastedMs = Date.parse(dead!.endedAt!) - began;
    expect(lastedMs).toBeGreaterThanOrEqual(24 * 3_600_000);
    expect(lastedMs).toBeLessThanOrEqual(25 * 3_600_000);
    expect(world.errors).toEqual([expect.stringContaining("given up")]);
    broken = false;
    await emit("sb_a");
    await until(async () => (await pending(store)) === 0);
    expect(await store.listDeliveries({ webhookId: "wh_a", status: "delivered", limit: 1 })).toMatchObject([{ seq: 2, attempts: 1 }]);
  });

  test("a receiver that hangs holds up no other, and has eight messages at most", async () => {
    const { store, receivers, emit, courier } = make();
    const { held, answer } = slowly();
    receivers.at(url, answer);
    receivers.at("https://good.example/", () => taken);
    await store.commit({ webhooks: [webhookRecord(), webhookRecord({ id: "wh_b", url: "https://good.example/" })] });
    await emit(...Array.from({ length: 40 }, (_, index) => `sb_${index}`));
    await until(() => receivers.posts.filter((post) => post.url !== url).length === 40);
    await settled();
    expect(held).toHaveLength(8);
    for (const { answer: release } of held.splice(0)) release(taken);
    await until(() => held.length === 8);
    await courier.stop();
  });

  test("what was read before an attempt ended is read again: nobody gets a message twice by that", async () => {
    const { store, receivers, emit, courier } = make();
    const { held, answer } = slowly();
    receivers.at(url, answer);
    await store.commit({ webhooks: [webhookRecord()] });
    await emit("sb_a");
    await until(() => held.length === 1);
    const first = store.firstDeliveries.bind(store);
    const gate = Promise.withResolvers<void>();
    let reads = 0;
    store.firstDeliveries = async (filter) => {
      const found = await first(filter);
      if (++reads === 1) await gate.promise;
      return found;
    };
    await emit("sb_b");
    await until(() => reads === 1);
    held[0]?.answer(taken);
    await until(async () => (await pending(store)) === 1);
    await settled();
    gate.resolve();
    await until(() => held.length === 2);
    held[1]?.answer(taken);
    await until(async () => (await pending(store)) === 0);
    expect(receivers.posts.map(seqOf)).toEqual([1, 2]);
    await courier.stop();
  });

  test("of a paused webhook wait for it, and go out when it is enabled", async () => {
    const world = new MemoryWorld();
    const lifecycle = world.lifecycle();
    world.receivers.at(url, () => taken);
    const { webhook } = await lifecycle.webhooks.create({ url });
    await lifecycle.webhooks.pause(webhook.id);
    await lifecycle.create({ image: "debian", name: "base" });
    await lifecycle.pause("base");
    await settled();
    expect(world.receivers.posts).toEqual([]);
    expect(await lifecycle.webhooks.get(webhook.id)).toMatchObject({ state: "paused", pending: 2 });
    await lifecycle.webhooks.enable(webhook.id);
    await until(async () => (await pending(world.store)) === 0);
    expect(world.receivers.posts.map(({ body }) => JSON.parse(body).type)).toEqual(["sandbox.created", "sandbox.paused"]);
  });

  test("a store that fails makes nobody get a message again and again", async () => {
    const { store, receivers, emit, world } = make();
    receivers.at(url, () => taken);
    await store.commit({ webhooks: [webhookRecord()] });
    const commit = store.commit.bind(store);
    let failures = 5;
    store.commit = async (change) => {
      if (change.deliveries !== undefined && failures-- > 0) throw new Error("the disk is full");
      return commit(change);
    };
    await emit("sb_a");
    await until(async () => (await pending(store)) === 0);
    expect(receivers.posts).toHaveLength(1);
    expect(world.errors).toEqual([]);
  });

  test("when the daemon ends, answers that come soon count; nothing is sent afterwards", async () => {
    const { store, receivers, emit, courier } = make({ auto: false });
    const { held, answer } = slowly();
    receivers.at(url, answer);
    await store.commit({ webhooks: [webhookRecord()] });
    await emit("sb_a", "sb_a");
    await until(() => held.length === 1);
    const stopped = courier.stop();
    held[0]?.answer(taken);
    await stopped;
    await emit("sb_a");
    await settled();
    expect(receivers.posts).toHaveLength(1);
    expect(await pending(store)).toBe(2);
  });
});

describe("before a capture", () => {
  test("what is due of the sandbox has been sent; a receiver that is dead or hangs does not hold it", async () => {
    const { store, receivers, emit, courier, clock } = make({ auto: false });
    const { held, answer } = slowly();
    receivers.at(url, answer);
    await store.commit({ webhooks: [webhookRecord()] });
    await emit("sb_a", "sb_a", "sb_b");
    let drained = false;
    const draining = courier.drain("sb_a").then(() => {
      drained = true;
    });
    await until(() => held.length === 2);
    held.find(({ message }) => seqOf(message) === 1)?.answer(taken);
    await until(() => held.length === 3);
    expect(drained).toBe(false);
    held[2]?.answer(down);
    // What failed is not due any more.
    await draining;
    await courier.drain("sb_a");
    // One that hangs: half a second.
    const hanging = courier.drain("sb_b");
    await settled();
    clock.advance(500);
    await hanging;
    expect(receivers.posts).toHaveLength(3);
    await courier.drain("sb_none");
  });

  test("a pause and a fork ask for it before they freeze", async () => {
    const world = new MemoryWorld();
    const seen: string[] = [];
    const lifecycle = world.lifecycle(async (step) => void seen.push(step));
    await lifecycle.create({ image: "debian", name: "base" });
    await lifecycle.webhooks.create({ url });
    const first = world.store.firstDeliveries.bind(world.store);
    world.store.firstDeliveries = async (filter) => {
      if (filter.sandboxId !== undefined) seen.push("drain");
      return first(filter);
    };
    await lifecycle.fork("base");
    // What the fork's own events set off has landed: a pause would only wait for it.
    await new Promise((resolve) => setImmediate(resolve));
    await lifecycle.pause("base");
    const steps = seen.filter((step) => ["drain", "fork.freeze", "pause.freeze"].includes(step));
    expect(steps).toEqual(["drain", "fork.freeze", "drain", "pause.freeze"]);
  });
});
