import { describe, expect, test } from "vitest";
import { MemoryWorld } from "./testing/index.ts";

describe("a sandbox's labels", () => {
  test("are merged with those it has and taken away, and an event tells what was asked for", async () => {
    const { lifecycle } = await withLabels({ a: "1", b: "2" });
    const changed = await lifecycle.update("base", { labels: { a: null, c: "3" } });
    expect(changed).toMatchObject({ labels: { b: "2", c: "3" } });
    expect(await lifecycle.get("base")).toEqual(changed);
    expect((await lifecycle.page({ labels: { c: "3" } })).sandboxes).toEqual([changed]);
    expect((await lifecycle.events("base")).at(-1)).toMatchObject({ type: "sandbox.updated", data: { labels: { a: null, c: "3" } } });
  });

  test("and bounds change without each other, and together", async () => {
    const { lifecycle } = await withLabels({ a: "1" });
    expect(await lifecycle.update("base", { ttlMs: 60_000 })).toMatchObject({ labels: { a: "1" }, ttlMs: 60_000 });
    expect(await lifecycle.update("base", { labels: { a: "2" } })).toMatchObject({ labels: { a: "2" }, ttlMs: 60_000 });
    expect(await lifecycle.update("base", { labels: { a: "3" }, ttlMs: null })).toMatchObject({ labels: { a: "3" }, ttlMs: null });
    const refused = lifecycle.update("base", { labels: { a: "4" }, ttlMs: 60_000, hardTtlMs: 30_000 });
    await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
    expect((await lifecycle.get("base")).labels).toEqual({ a: "3" });
  });

  test("change in every state, many at once too", async () => {
    const { lifecycle } = await withLabels({});
    await lifecycle.pause("base");
    await Promise.all(Array.from({ length: 20 }, (_, index) => lifecycle.update("base", { labels: { [`l${index}`]: "x" } })));
    const { labels, state } = await lifecycle.get("base");
    expect({ state, count: Object.keys(labels).length }).toEqual({ state: "paused", count: 20 });
  });
});

async function withLabels(labels: Record<string, string>) {
  const world = new MemoryWorld();
  const lifecycle = world.lifecycle();
  await lifecycle.create({ image: "debian", name: "base", labels });
  return { world, lifecycle };
}
