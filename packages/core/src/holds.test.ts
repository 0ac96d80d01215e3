import { beforeEach, expect, test } from "vitest";
import type { Lifecycle } from "./sandboxes.ts";
import { MemoryWorld } from "./testing/memory-world.ts";

const hold = { since: "2026-01-01T00:00:00.000Z", freeBytes: 1000 };
let world: MemoryWorld;
let lifecycle: Lifecycle;
let runtimeId: string;
beforeEach(async () => {
  world = new MemoryWorld();
  lifecycle = world.lifecycle();
  await lifecycle.create({ image: "debian", name: "base" });
  runtimeId = (await lifecycle.get("base")).runtimeId as string;
});

const types = async () => (await lifecycle.events("base")).map(({ type }) => type);

test("a sandbox that is held says so, with an event, and answers calls with why until it is let go", async () => {
  world.engine.hold(runtimeId, hold);
  expect(await lifecycle.get("base")).toMatchObject({ state: "running", held: { reason: "disk_full", ...hold } });
  expect((await lifecycle.list())[0]).toMatchObject({ held: hold });
  await expect.poll(types).toEqual(["sandbox.created", "sandbox.held"]);
  await expect(lifecycle.guest("base")).rejects.toMatchObject({ code: "disk_full" });
  world.engine.hold(runtimeId, null);
  // Whoever comes at once waits until the guest knows this daemon.
  expect(await (await lifecycle.guest("base")).sessions.list()).toEqual([]);
  expect((await lifecycle.get("base")).held).toBe(null);
  await expect.poll(types).toEqual(["sandbox.created", "sandbox.held", "sandbox.released"]);
});

test("a pause or fork of a held one is refused, and it is running still", async () => {
  world.engine.hold(runtimeId, hold);
  for (const command of ["pause", "fork"] as const) {
    expect((await lifecycle[command]("base")).operation).toMatchObject({ status: "failed", error: { code: "disk_full" } });
    expect(await lifecycle.get("base")).toMatchObject({ state: "running", operation: null });
  }
  world.engine.hold(runtimeId, null);
  expect((await lifecycle.pause("base")).operation).toMatchObject({ status: "succeeded" });
  expect((await lifecycle.get("base")).held).toBe(null);
});

test("one that was told to let nothing new begin before it was held lets calls in again afterwards", async () => {
  const guest = await world.engine.guest(runtimeId);
  await guest.prepare();
  world.engine.hold(runtimeId, hold);
  world.engine.hold(runtimeId, null);
  const { sessions } = await lifecycle.guest("base");
  await sessions.start({ sessionId: "se_1", argv: ["sleep", "1"], hold: false });
});

test("it can be stopped and removed while it is held", async () => {
  world.engine.hold(runtimeId, hold);
  expect((await lifecycle.stop("base")).operation).toMatchObject({ status: "succeeded" });
  await lifecycle.start("base");
  world.engine.hold((await lifecycle.get("base")).runtimeId as string, hold);
  expect((await lifecycle.remove("base", { force: true })).operation).toMatchObject({ status: "succeeded" });
});

test("a daemon that is started anew tells of a hold once more only if it is another", async () => {
  world.engine.hold(runtimeId, hold);
  await expect.poll(types).toContain("sandbox.held");
  world.engine.forgetDaemon();
  lifecycle = world.lifecycle();
  await lifecycle.recover();
  world.engine.hold(runtimeId, hold);
  world.engine.hold(runtimeId, { ...hold, since: "2026-01-02T00:00:00.000Z" });
  await expect.poll(async () => (await types()).filter((type) => type === "sandbox.held")).toHaveLength(2);
});
