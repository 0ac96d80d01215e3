import { describe, expect, test } from "vitest";
import type { Clock } from "../ports/clock.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { Timers } from "./timers.ts";

const hourMs = 3_600_000;

describe("a thousand pending instants", () => {
  test("cost one sleep at a time and one wake a minute, also when they are put off all the time", async () => {
    const { clock, count } = countingClock();
    const fired: string[] = [];
    const timers = new Timers(clock, async (key) => void fired.push(key));
    for (let index = 0; index < 1000; index++) timers.set(`s${index}`, clock.now().getTime() + 24 * hourMs - index);
    const armed = count.sleeps;
    // Each was nearer than those before it; from then on none is.
    expect(armed).toBe(1000);
    for (let minute = 0; minute < 60; minute++) {
      for (let index = 0; index < 1000; index++) timers.set(`s${index}`, clock.now().getTime() + 25 * hourMs);
      clock.advance(60_000);
      await turns();
    }
    expect(count.sleeps - armed).toBe(60);
    expect(fired).toEqual([]);
    await timers.close();
  });

  test("fire in the order of their instants, eight at a time, each once", async () => {
    const clock = new FakeClock({ auto: false });
    const fired: string[] = [];
    const open: (() => void)[] = [];
    const timers = new Timers(clock, (key) => {
      fired.push(key);
      return new Promise((resolve) => open.push(resolve));
    });
    for (let index = 0; index < 20; index++) timers.set(`s${String(19 - index).padStart(2, "0")}`, clock.now().getTime() + 1000 - index);
    clock.advance(1000);
    await turns();
    expect(fired).toHaveLength(8);
    while (open.length > 0) {
      open.shift()?.();
      await turns();
    }
    expect(fired).toEqual(Array.from({ length: 20 }, (_, index) => `s${String(index).padStart(2, "0")}`));
  });
});

test("an instant beyond 2^31 ms does not fire at once (T09)", async () => {
  const { clock } = countingClock();
  let fired = false;
  const timers = new Timers(clock, async () => {
    fired = true;
  });
  timers.set("far", clock.now().getTime() + 2 ** 31 + 1000);
  for (let hour = 0; hour < 600; hour++) {
    clock.advance(hourMs);
    await turns();
    expect(fired).toBe((hour + 1) * hourMs >= 2 ** 31 + 1000);
    if (fired) break;
  }
  expect(fired).toBe(true);
});

test("one that is set again while it is dealt with fires again afterwards; none does after the close", async () => {
  const clock = new FakeClock({ auto: false });
  let count = 0;
  const timers: Timers = new Timers(clock, async (key) => {
    count++;
    if (count < 3) timers.set(key, clock.now().getTime());
  });
  timers.set("a", clock.now().getTime());
  await turns();
  expect(count).toBe(3);
  timers.set("b", clock.now().getTime() + 10);
  timers.clear("b");
  timers.set("c", clock.now().getTime() + 10);
  timers.set("d", clock.now().getTime() + 20);
  // Its sleep is over, and nobody has noticed yet.
  clock.advance(10);
  await timers.close();
  clock.advance(1000);
  await turns();
  expect(count).toBe(3);
});

/** Refuses what Node.js would take for 1 ms. */
function countingClock() {
  const clock = new FakeClock({ auto: false });
  const count = { sleeps: 0 };
  const sleep: Clock["sleep"] = clock.sleep.bind(clock);
  clock.sleep = (ms, signal) => {
    count.sleeps++;
    expect(ms).toBeLessThan(2 ** 31);
    return sleep(ms, signal);
  };
  return { clock, count };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
