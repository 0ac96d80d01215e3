import { describe, expect, test } from "vitest";
import { FakeClock, MemoryWorld } from "./testing/index.ts";
import { gateAt } from "./testing/scenes.ts";

const hourMs = 60 * 60 * 1000;

describe("a clock that is set back an hour", () => {
  test.each([
    ["pause", "capture", []],
    ["resume", "launch", ["pause"]],
    ["fork", "capture", []],
  ] as const)("in the middle of a %s gives no end before its beginning and no negative duration", async (kind, phase, before) => {
    const clock = new FakeClock();
    const gate = gateAt(`${kind}.${phase}`);
    const lifecycle = new MemoryWorld({ clock }).lifecycle(gate.failpoint);
    await lifecycle.create({ image: "debian", name: "base" });
    for (const command of before) await lifecycle[command]("base");
    const began = lifecycle[kind]("base");
    await gate.reached;
    const { updatedAt } = await lifecycle.get("base");
    clock.set(-hourMs);
    gate.open();
    const { operation, sandbox } = await began;
    expect(operation.status).toBe("succeeded");
    expect(operation.endedAt! >= operation.startedAt).toBe(true);
    expect(sandbox!.updatedAt >= updatedAt).toBe(true);
    const { phases, frozenMs } = operation.result as { phases: Record<string, number>; frozenMs?: number };
    for (const ms of [...Object.values(phases), frozenMs ?? 0]) expect(ms).toBeGreaterThanOrEqual(0);
  });

  test("between a kill and the next start hinders no recovery", async () => {
    const clock = new FakeClock();
    const world = new MemoryWorld({ clock });
    await world.lifecycle().create({ image: "debian", name: "base" });
    const gate = gateAt("pause.capture");
    const { lifecycle, kill } = world.daemon(gate.failpoint);
    void lifecycle.pause("base");
    await gate.reached;
    kill();
    clock.set(-hourMs);
    const next = world.lifecycle();
    await next.recover();
    expect(await next.get("base")).toMatchObject({ state: "paused" });
    const [pause] = await next.operations("base");
    expect(pause!.endedAt! >= pause!.startedAt).toBe(true);
    expect(await next.resume("base")).toMatchObject({ operation: { result: { restored: "memory" } } });
  });

  test("forgets nothing too early, and waits no longer than it should", async () => {
    const clock = new FakeClock({ auto: false });
    const gate = gateAt("pause.capture");
    const lifecycle = new MemoryWorld({ clock }).lifecycle(gate.failpoint);
    await lifecycle.create({ image: "debian", name: "base" });
    clock.set(-hourMs);
    expect(await lifecycle.forget({ maxAgeMs: hourMs, perSandbox: 10 })).toBe(0);
    const pausing = lifecycle.pause("base");
    await gate.reached;
    const resuming = lifecycle.resume("base", {}, { waitMs: 100 });
    const refused = expect(resuming).rejects.toMatchObject({ code: "operation_active" });
    await new Promise((resolve) => setImmediate(resolve));
    clock.set(-hourMs);
    clock.advance(100);
    await refused;
    gate.open();
    await pausing;
    clock.set(2 * hourMs);
    clock.advance(hourMs + 1);
    expect(await lifecycle.forget({ maxAgeMs: hourMs, perSandbox: 10 })).toBeGreaterThan(0);
  });
});
