import { describe, expect, test } from "vitest";
import { broken } from "../testing/scenes.ts";
import { dayMs, minuteMs, TimedWorld } from "../testing/timed-world.ts";

describe("a soft ttl", () => {
  test.each([
    [undefined, "paused"],
    ["pause", "paused"],
    ["stop", "stopped"],
    ["remove", "gone"],
  ] as const)("with onTimeout %s makes it %s, neither sooner nor later (T04)", async (onTimeout, state) => {
    const timed = await TimedWorld.open();
    await timed.create({ ttlMs: minuteMs, ...(onTimeout === undefined ? {} : { onTimeout }) });
    const { id, expiresAt } = await timed.lifecycle.get("base");
    expect(expiresAt).toBe(timed.at(minuteMs));
    await timed.pass(minuteMs - 1);
    expect(await timed.state()).toBe("running");
    await timed.pass(1);
    expect(await timed.state()).toBe(state);
    const [operation] = await timed.lifecycle.operations(id);
    expect(operation).toMatchObject({ actor: "ttl", status: "succeeded", kind: onTimeout ?? "pause" });
    expect((await timed.lifecycle.events(id)).at(-1)?.data).toMatchObject({ timeout: "ttl" });
  });

  test("does not run while it is paused for a week, and begins anew with each resume (T03)", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ ttlMs: minuteMs });
    await timed.pass(10_000);
    await timed.lifecycle.pause("base");
    expect(await timed.lifecycle.get("base")).toMatchObject({ expiresAt: null, ttlMs: minuteMs });
    await timed.pass(7 * dayMs);
    expect(await timed.state()).toBe("paused");
    await timed.lifecycle.resume("base");
    expect((await timed.lifecycle.get("base")).expiresAt).toBe(timed.at(minuteMs));
    await timed.pass(minuteMs);
    expect(await timed.state()).toBe("paused");
  });

  test("goes on over a restart of the daemon, and what was due meanwhile fires at once", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ ttlMs: 10 * minuteMs });
    await timed.pass(4 * minuteMs);
    await timed.restart();
    await timed.pass(6 * minuteMs - 1);
    expect(await timed.state()).toBe("running");
    await timed.lifecycle.close();
    await timed.pass(minuteMs);
    expect(await timed.state()).toBe("running");
    await timed.restart();
    await timed.becomes("paused");
  });

  test("is put off by a refresh from now on, never back, never over the hard ttl (T09)", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ ttlMs: 2 * minuteMs, hardTtlMs: 5 * minuteMs });
    const hard = timed.at(5 * minuteMs);
    await timed.pass(minuteMs);
    expect(await timed.lifecycle.refresh("base")).toMatchObject({ expiresAt: timed.at(2 * minuteMs), hardExpiresAt: hard });
    expect(await timed.lifecycle.refresh("base", { ttlMs: 1000 })).toMatchObject({ expiresAt: timed.at(2 * minuteMs) });
    expect(await timed.lifecycle.refresh("base", { ttlMs: dayMs })).toMatchObject({ expiresAt: hard, hardExpiresAt: hard });
  });

  test("a refresh at the moment of expiry: it runs with a future expiry, or is paused (T07)", async () => {
    for (const offsetMs of [-1, 0, 1]) {
      const timed = await TimedWorld.open();
      await timed.create({ ttlMs: minuteMs });
      timed.clock.advance(minuteMs + offsetMs);
      const refreshed = await timed.lifecycle.refresh("base").catch((error: unknown) => error);
      await timed.settled();
      const { state, expiresAt } = await timed.lifecycle.get("base");
      expect([state, expiresAt]).toEqual(refreshed instanceof Error ? ["paused", null] : ["running", timed.at(minuteMs)]);
      await timed.pass(minuteMs);
      expect(await timed.state()).toBe("paused");
    }
  });

  test("a pause that fails leaves it running and is tried again after 1 s, 2 s, 4 s, until it goes (D03)", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ ttlMs: minuteMs });
    timed.world.engine.failNext("capture", broken);
    await timed.pass(minuteMs);
    expect(await timed.lifecycle.get("base")).toMatchObject({ state: "running" });
    expect((await timed.lifecycle.events("base")).at(-1)).toMatchObject({ type: "pause.failed", data: { code: "engine_failed" } });
    timed.world.engine.failNext("capture", broken);
    await timed.pass(999);
    expect(await timed.lifecycle.operations("base")).toHaveLength(2);
    await timed.pass(1);
    expect(await timed.lifecycle.operations("base")).toHaveLength(3);
    await timed.pass(1999);
    expect(await timed.state()).toBe("running");
    await timed.pass(1);
    expect(await timed.state()).toBe("paused");
  });

  test("is noticed within a minute after the host's clock was set", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ ttlMs: dayMs });
    timed.clock.set(dayMs);
    await timed.pass(minuteMs);
    expect(await timed.state()).toBe("paused");
  });
});

describe("a hard ttl", () => {
  test("removes it in whatever state it is, at the instant that was set at its creation (T10, T15)", async () => {
    for (const rest of ["pause", "stop", undefined] as const) {
      const timed = await TimedWorld.open();
      await timed.create({ hardTtlMs: minuteMs, onTimeout: "pause" });
      const { id, hardExpiresAt } = await timed.lifecycle.get("base");
      await timed.pass(10_000);
      if (rest !== undefined) await timed.lifecycle[rest]("base");
      if (rest === "pause") await timed.lifecycle.resume("base");
      if (rest === "pause") await timed.lifecycle.pause("base");
      expect((await timed.lifecycle.get("base")).hardExpiresAt).toBe(hardExpiresAt);
      await timed.pass(49_999);
      expect(await timed.state()).not.toBe("gone");
      await timed.pass(1);
      expect(await timed.state()).toBe("gone");
      await expect(timed.lifecycle.resume("base")).rejects.toMatchObject({ code: "sandbox_not_found" });
      expect((await timed.lifecycle.events(id)).at(-1)).toMatchObject({ type: "sandbox.removed", data: { timeout: "hardTtl" } });
      expect(await timed.world.disks.list()).toEqual([]);
    }
  });

  test("that passed while no daemon was there removes it at once", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ hardTtlMs: minuteMs });
    await timed.lifecycle.pause("base");
    await timed.lifecycle.close();
    await timed.pass(7 * dayMs);
    await timed.restart();
    await timed.becomes("gone");
  });

  test("wins over the operation at work", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ hardTtlMs: minuteMs });
    await timed.lifecycle.pause("base");
    timed.clock.advance(minuteMs);
    await timed.lifecycle.resume("base").catch(() => {});
    await timed.becomes("gone");
  });

  test("of a child begins with the child", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ hardTtlMs: 2 * minuteMs, ttlMs: minuteMs, autoResume: true });
    await timed.pass(50_000);
    await timed.lifecycle.fork("base", { name: "kid" });
    expect(await timed.lifecycle.get("kid")).toMatchObject({
      expiresAt: timed.at(minuteMs),
      hardExpiresAt: timed.at(2 * minuteMs),
      autoResume: true,
    });
  });
});

describe("forty that expire together", () => {
  test("all end, by one timer and eight at a time", async () => {
    const timed = await TimedWorld.open();
    for (let index = 0; index < 40; index++) await timed.lifecycle.create({ image: "debian", name: `s${index}`, ttlMs: minuteMs });
    await timed.pass(minuteMs);
    await expect.poll(async () => (await timed.lifecycle.list()).every(({ state }) => state === "paused")).toBe(true);
  });
});
