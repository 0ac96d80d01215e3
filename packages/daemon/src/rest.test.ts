import { expect, test } from "vitest";
import { createLogger } from "./log.ts";
import { keepSmall } from "./rest.ts";

/** A daemon as its looks find it; each look waits until it is let. */
class FakeDaemon {
  usedMs = 0;
  residentBytes = 200e6;
  looks = 0;
  collections = 0;
  waits = 0;
  idle: Promise<void> = Promise.resolve();

  readonly end = keepSmall(
    {
      idle: () => {
        this.waits++;
        return this.idle;
      },
    },
    createLogger("silent"),
    {
      waitMs: 1,
      held: {
        usedMs: () => {
          this.looks++;
          return this.usedMs;
        },
        residentBytes: () => this.residentBytes,
        collect: async () => {
          this.collections++;
          this.residentBytes = 120e6;
        },
      },
    },
  );

  async looksAgain(): Promise<void> {
    const { looks } = this;
    await expect.poll(() => this.looks, { interval: 1 }).toBeGreaterThan(looks + 2);
  }
}

test("a daemon that rests gives back what its work left, once, and again when there is more of it", async () => {
  const daemon = new FakeDaemon();
  await expect.poll(() => daemon.collections).toBe(1);
  await daemon.looksAgain();
  expect(daemon.collections).toBe(1);
  daemon.residentBytes = 127e6;
  await daemon.looksAgain();
  expect(daemon.collections).toBe(1);
  daemon.residentBytes = 129e6;
  await expect.poll(() => daemon.collections).toBe(2);
  await daemon.end();
});

test("not while it is at work", async () => {
  const daemon = new FakeDaemon();
  await expect.poll(() => daemon.collections).toBe(1);
  await daemon.looksAgain();
  Object.defineProperty(daemon, "usedMs", { get: () => daemon.looks * 1e6 });
  daemon.residentBytes = 300e6;
  await daemon.looksAgain();
  expect(daemon.collections).toBe(1);
  await daemon.end();
});

test("and not while an operation runs", async () => {
  const daemon = new FakeDaemon();
  await expect.poll(() => daemon.collections).toBe(1);
  await daemon.looksAgain();
  const operation = Promise.withResolvers<void>();
  daemon.idle = operation.promise;
  daemon.residentBytes = 300e6;
  await expect.poll(() => daemon.waits).toBeGreaterThan(2);
  expect(daemon.collections).toBe(1);
  operation.resolve();
  await expect.poll(() => daemon.collections).toBe(2);
  await daemon.end();
});
