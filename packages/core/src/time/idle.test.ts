import { describe, expect, test } from "vitest";
import { gateAt } from "../testing/scenes.ts";
import { minuteMs, TimedWorld } from "../testing/timed-world.ts";

describe("an idle sandbox", () => {
  test("is paused when nobody used it for so long; looking at it is no use (T06)", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ idleMs: 10_000 });
    for (let second = 0; second < 9; second++) {
      await timed.pass(1000);
      await timed.lifecycle.get("base");
      await timed.lifecycle.list();
    }
    expect(await timed.state()).toBe("running");
    await timed.pass(1000);
    expect(await timed.state()).toBe("paused");
    expect((await timed.lifecycle.operations("base"))[0]).toMatchObject({ actor: "ttl", result: { timeout: "idle" } });
  });

  test("each command and file call puts it off, and is recorded no oftener than a tenth of the time", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ idleMs: 20_000 });
    const { version: before } = (await timed.world.store.findSandbox("base"))!;
    for (let count = 0; count < 30; count++) {
      await timed.pass(1000);
      const { files } = await timed.lifecycle.guest("base");
      await files.list("/", {});
    }
    const { version, lastActiveAt } = (await timed.world.store.findSandbox("base"))!;
    expect(version - before).toBe(15);
    expect(lastActiveAt).toBe(timed.at(0));
    await timed.pass(19_999);
    expect(await timed.state()).toBe("running");
    await timed.pass(1);
    expect(await timed.state()).toBe("paused");
  });

  test("a restart of the daemon takes no more than that tenth from it", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ idleMs: minuteMs });
    await timed.pass(50_000);
    await timed.exec("se_a");
    await timed.pass(5000);
    await timed.exec("se_b");
    await timed.restart();
    await timed.pass(minuteMs - 6000);
    expect(await timed.state()).toBe("running");
    await timed.pass(6000);
    expect(await timed.state()).toBe("paused");
  });

  test("a command that somebody waits for is use as long as it runs, over restarts too", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ idleMs: 10_000 });
    const { sessions } = await timed.lifecycle.guest("base");
    const frames = sessions.run({ sessionId: "se_long", argv: ["sleep", "100"], hold: true })[Symbol.asyncIterator]();
    await frames.next();
    const waiting = frames.next();
    for (let second = 0; second < 60; second++) await timed.pass(1000);
    expect(await timed.state()).toBe("running");
    expect(Date.parse((await timed.lifecycle.get("base")).lastActiveAt ?? "")).toBeGreaterThan(timed.clock.now().getTime() - 2500);
    await sessions.signal("se_long", "KILL");
    expect((await waiting).value).toMatchObject({ type: "end" });
    await frames.next();
    await timed.pass(10_000);
    expect(await timed.state()).toBe("paused");
  });

  test("a terminal that is only left open is not used", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ idleMs: 10_000 });
    const { sessions } = await timed.lifecycle.guest("base");
    const terminal = { rows: 24, columns: 80 };
    const frames = sessions.run({ sessionId: "se_t", argv: ["sleep", "100"], terminal, hold: true })[Symbol.asyncIterator]();
    await frames.next();
    const waiting = frames.next();
    await timed.pass(8000);
    await sessions.write("se_t", { client: "", offset: 0, data: new TextEncoder().encode("x"), end: false });
    await timed.pass(9000);
    expect(await timed.state()).toBe("running");
    await timed.pass(1000);
    expect(await timed.state()).toBe("paused");
    expect((await waiting).value).toMatchObject({ type: "end", end: { reason: "paused" } });
  });

  test("the time begins anew at the end of a resume (T13)", async () => {
    const timed = await TimedWorld.open();
    await timed.create({ idleMs: 10_000, autoResume: true });
    await timed.pass(10_000);
    expect(await timed.state()).toBe("paused");
    await timed.pass(50_000);
    await timed.exec("se_a");
    await timed.pass(9999);
    expect(await timed.lifecycle.get("base")).toMatchObject({ state: "running", generation: 2 });
    await timed.pass(1);
    expect(await timed.state()).toBe("paused");
  });
});

describe("a pause that nobody asked for", () => {
  test.each([
    ["idle", { idleMs: minuteMs }, "pause.quiesce"],
    ["ttl", { ttlMs: minuteMs }, "pause.quiesce"],
    ["ttl, when it is frozen already", { ttlMs: minuteMs }, "pause.seal"],
  ] as const)("by %s is called off by a use that comes before it can only go forward (T12)", async (_, settings, step) => {
    const gate = gateAt(step);
    const timed = await TimedWorld.open(gate.failpoint);
    await timed.create(settings);
    timed.clock.advance(minuteMs);
    await gate.reached;
    const started = timed.exec("se_a");
    // It waits for the pause to be called off, which the gate holds up.
    await new Promise((resolve) => setTimeout(resolve, 20));
    gate.open();
    await started;
    await timed.settled();
    const sandbox = await timed.lifecycle.get("base");
    expect(sandbox).toMatchObject({ state: "running", generation: 1 });
    expect(sandbox.expiresAt).toBe("ttlMs" in settings ? timed.at(minuteMs) : null);
    expect((await timed.lifecycle.operations("base"))[0]).toMatchObject({
      kind: "pause",
      error: { code: "operation_cancelled", message: expect.stringContaining("was used meanwhile") },
    });
    await timed.pass(minuteMs);
    expect(await timed.state()).toBe("paused");
  });

  test("that can only go forward ends first; the use is refused, or wakes it", async () => {
    for (const autoResume of [false, true]) {
      const gate = gateAt("pause.reclaim");
      const timed = await TimedWorld.open(gate.failpoint);
      await timed.create({ idleMs: minuteMs, autoResume });
      timed.clock.advance(minuteMs);
      await gate.reached;
      const started = timed.exec("se_a").then(
        () => "started",
        (error: { code: string }) => error.code,
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
      gate.open();
      expect(await started).toBe(autoResume ? "started" : "sandbox_not_running");
      expect((await timed.lifecycle.get("base")).generation).toBe(autoResume ? 2 : 1);
    }
  });

  test("a use at any instant around the end of the idle time finds it running, or wakes it (T12)", async () => {
    for (let offsetMs = -3; offsetMs <= 3; offsetMs++) {
      for (let turns = 0; turns < 40; turns += 3) {
        const timed = await TimedWorld.open();
        await timed.create({ idleMs: minuteMs, autoResume: true });
        timed.clock.advance(minuteMs + offsetMs);
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        await timed.exec("se_a");
        await timed.settled();
        expect((await timed.lifecycle.get("base")).state).toBe("running");
      }
    }
  });
});
