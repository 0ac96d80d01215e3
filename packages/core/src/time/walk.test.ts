import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dayMs, minuteMs, TimedWorld } from "../testing/timed-world.ts";
import { walkRuns, walkSeed } from "../testing/walk-seed.ts";

const bound = fc.option(fc.constantFrom(minuteMs, 2 * minuteMs, 5 * minuteMs), { nil: null });
const settings = fc.record({
  ttlMs: bound,
  idleMs: bound,
  hardTtlMs: fc.option(fc.constantFrom(7 * minuteMs, 20 * minuteMs), { nil: null }),
  onTimeout: fc.constantFrom("pause" as const, "stop" as const, "remove" as const),
  autoResume: fc.boolean(),
});

const actions = {
  use: (timed: TimedWorld, count: number) => timed.exec(`se_${count}`),
  refresh: ({ lifecycle }: TimedWorld) => lifecycle.refresh("base"),
  update: ({ lifecycle }: TimedWorld, count: number) => lifecycle.update("base", { ttlMs: ((count % 3) + 1) * minuteMs }),
  pause: ({ lifecycle }: TimedWorld) => lifecycle.pause("base"),
  resume: ({ lifecycle }: TimedWorld) => lifecycle.resume("base"),
  start: ({ lifecycle }: TimedWorld) => lifecycle.start("base"),
  restart: (timed: TimedWorld) => timed.restart(),
} as const;
type Action = keyof typeof actions;

const step = fc.record({
  waitMs: fc.constantFrom(0, 1, 1000, minuteMs - 1, minuteMs, 3 * minuteMs, dayMs),
  /** Without waiting for what the time brings with it. */
  atOnce: fc.boolean(),
  action: fc.constantFrom<Action>(...(Object.keys(actions) as Action[])),
  crash: fc.boolean(),
});

describe("whatever is done to a sandbox, and whenever", () => {
  test("none runs with its time over, or is there after its hard ttl; restarts and kills change nothing of that (T07)", async () => {
    await fc.assert(
      fc.asyncProperty(settings, fc.array(step, { minLength: 1, maxLength: 12 }), async (given, steps) => {
        const timed = await TimedWorld.open();
        await timed.create(given);
        const { hardExpiresAt } = await timed.lifecycle.get("base");
        for (const [count, { waitMs, atOnce, action, crash }] of steps.entries()) {
          timed.clock.advance(waitMs);
          if (!atOnce) await timed.settled();
          const done = actions[action](timed, count).catch(mustBeRefusal);
          // There is one daemon at a time.
          if (crash && action !== "restart") await timed.crash();
          else await done;
          await timed.settled();
          await check(timed, hardExpiresAt);
        }
      }),
      { numRuns: walkRuns(150, process.env.TORPOR_WALKS), seed: walkSeed(process.env.TORPOR_WALK_SEED) },
    );
  }, 120_000);
});

async function check({ lifecycle, clock, world }: TimedWorld, hardExpiresAt: string | null | undefined): Promise<void> {
  const now = clock.now().toISOString();
  const [sandbox] = await lifecycle.list();
  expect(world.errors).toEqual([]);
  expect(hardExpiresAt == null || sandbox === undefined || now < hardExpiresAt).toBe(true);
  if (sandbox === undefined) return;
  const { state, expiresAt, ttlMs, idleMs, lastActiveAt } = sandbox;
  expect(["running", "paused", "stopped"]).toContain(state);
  if (state !== "running") return expect(expiresAt).toBeNull();
  if (ttlMs != null) expect(now < (expiresAt ?? "")).toBe(true);
  if (idleMs != null)
    expect(Date.parse(lastActiveAt ?? "")).toBeGreaterThan(clock.now().getTime() - idleMs - Math.min(idleMs / 10, minuteMs));
}

function mustBeRefusal(error: unknown): void {
  expect(error).toMatchObject({ name: "TorporError", code: expect.not.stringMatching(/^internal$/) });
}
