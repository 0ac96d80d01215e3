import { describe, expect, test } from "vitest";
import type { Once } from "./idempotency.ts";
import { FakeClock, MemoryWorld } from "./testing/index.ts";
import { gateAt, withSandbox } from "./testing/scenes.ts";

const once: Once = { key: "k-1", fingerprint: "f" };
const hourMs = 60 * 60 * 1000;

describe("A01: the same call twice", () => {
  test("one after the other has one operation and one answer", async () => {
    const { lifecycle } = await withSandbox();
    const first = await lifecycle.pause("base", {}, { once });
    await lifecycle.resume("base");
    const again = await lifecycle.pause("base", {}, { once });
    expect(again.operation).toEqual(first.operation);
    expect(again.sandbox).toMatchObject({ state: "running" });
  });

  test("ten creates at once make one sandbox", async () => {
    const lifecycle = new MemoryWorld().lifecycle();
    const answers = await Promise.all(Array.from({ length: 10 }, () => lifecycle.create({ image: "debian", name: "base" }, { once })));
    expect(new Set(answers.map(({ operation }) => operation.id)).size).toBe(1);
    expect(await lifecycle.list()).toHaveLength(1);
  });

  test("ten creates without a name at once make one sandbox", async () => {
    const lifecycle = new MemoryWorld().lifecycle();
    const answers = await Promise.all(Array.from({ length: 10 }, () => lifecycle.create({ image: "debian" }, { once })));
    expect(new Set(answers.map(({ sandbox }) => sandbox?.id)).size).toBe(1);
    expect(await lifecycle.list()).toHaveLength(1);
  });

  test("ten forks at once make one child", async () => {
    const { lifecycle } = await withSandbox();
    await Promise.all(Array.from({ length: 10 }, () => lifecycle.fork("base", {}, { once })));
    expect(await lifecycle.list()).toHaveLength(2);
  });

  test("after a restart, and when the operation was finished by the next daemon", async () => {
    const world = new MemoryWorld();
    await world.lifecycle().create({ image: "debian", name: "base" });
    const gate = gateAt("pause.capture");
    const { lifecycle, kill } = world.daemon(gate.failpoint);
    void lifecycle.pause("base", {}, { once });
    await gate.reached;
    kill();
    gate.open();
    const next = world.lifecycle();
    await next.recover();
    const { operation } = await next.pause("base", {}, { once });
    expect(operation).toMatchObject({ kind: "pause", status: "succeeded", attempt: 2 });
    expect(await next.operations("base")).toHaveLength(2);
  });

  test("of a failed operation gives its failure, and does nothing again", async () => {
    const lifecycle = new MemoryWorld().lifecycle();
    const asked = { image: "nowhere", name: "base" };
    const first = await lifecycle.create(asked, { once });
    expect(first.operation).toMatchObject({ status: "failed", error: { code: "image_not_found" } });
    expect((await lifecycle.create(asked, { once })).operation).toEqual(first.operation);
  });

  test("of a removal, when the sandbox is gone", async () => {
    const { lifecycle } = await withSandbox();
    const first = await lifecycle.remove("base", { force: true }, { once });
    expect((await lifecycle.remove("base", { force: true }, { once })).operation).toEqual(first.operation);
    await expect(lifecycle.remove("base", { force: true })).rejects.toMatchObject({ code: "sandbox_not_found" });
  });

  test("of one that joined, or had nothing to do", async () => {
    const { lifecycle } = await withSandbox();
    const first = await lifecycle.resume("base", {}, { once });
    expect(first.operation.result).toEqual({ unchanged: true });
    await lifecycle.pause("base");
    expect((await lifecycle.resume("base", {}, { once })).operation).toEqual(first.operation);
    const [one, other] = await Promise.all([
      lifecycle.resume("base", {}, { once: { ...once, key: "a" } }),
      lifecycle.resume("base", {}, { once: { ...once, key: "b" } }),
    ]);
    expect(other.operation).toEqual(one.operation);
    expect((await lifecycle.resume("base", {}, { once: { ...once, key: "b" } })).operation).toEqual(one.operation);
  });

  test("while the first is at work waits for its end", async () => {
    const gate = gateAt("create.boot");
    const lifecycle = new MemoryWorld().lifecycle(gate.failpoint);
    const first = lifecycle.create({ image: "debian" }, { once });
    await gate.reached;
    const again = lifecycle.create({ image: "debian" }, { once });
    gate.open();
    expect((await again).operation).toEqual((await first).operation);
  });
});

test("another request under the same key is refused, and does nothing", async () => {
  const { lifecycle } = await withSandbox();
  await lifecycle.pause("base", {}, { once });
  await lifecycle.resume("base");
  await expect(lifecycle.pause("base", { memory: false }, { once: { ...once, fingerprint: "other" } })).rejects.toMatchObject({
    code: "idempotency_conflict",
    details: { operation: expect.stringMatching(/^op_/) },
  });
  expect(await lifecycle.get("base")).toMatchObject({ state: "running" });
});

test("another command or sandbox may have the same key", async () => {
  const { lifecycle } = await withSandbox();
  await lifecycle.create({ image: "debian", name: "other" }, { once });
  const pauses = await Promise.all(["base", "other"].map((name) => lifecycle.pause(name, {}, { once })));
  expect(new Set(pauses.map(({ operation }) => operation.sandboxId)).size).toBe(2);
  expect((await lifecycle.resume("base", {}, { once })).operation.kind).toBe("resume");
});

test("a refused call is looked at anew: it has changed nothing", async () => {
  const { lifecycle } = await withSandbox();
  await lifecycle.stop("base");
  await expect(lifecycle.pause("base", {}, { once })).rejects.toMatchObject({ code: "sandbox_not_running" });
  await lifecycle.start("base");
  expect((await lifecycle.pause("base", {}, { once })).operation).toMatchObject({ status: "succeeded" });
});

test("a key counts for 24 hours, also when the clock is set back an hour meanwhile", async () => {
  const clock = new FakeClock();
  const lifecycle = new MemoryWorld({ clock }).lifecycle();
  const first = await lifecycle.create({ image: "debian" }, { once });
  clock.set(-hourMs);
  clock.advance(24 * hourMs);
  expect((await lifecycle.create({ image: "debian" }, { once })).operation.id).toBe(first.operation.id);
  clock.advance(hourMs + 1);
  expect((await lifecycle.create({ image: "debian" }, { once })).operation.id).not.toBe(first.operation.id);
});
