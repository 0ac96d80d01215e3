import { expect, test } from "vitest";
import { FailedLogins } from "./failed-logins.ts";

const fail = (failures: FailedLogins, address: string, times: number) => {
  for (let count = 0; count < times; count++) failures.failed(address);
};

test("ten failures within a minute are enough, and the minute passes", () => {
  let now = 0;
  const failures = new FailedLogins(() => now);
  fail(failures, "1.1.1.1", 9);
  failures.check("1.1.1.1");
  failures.failed("1.1.1.1");
  expect(() => failures.check("1.1.1.1")).toThrow(
    expect.objectContaining({ code: "too_many_attempts", details: { retryAfterMs: 60_000 } }),
  );
  failures.check("1.1.1.2");
  now = 60_000;
  failures.check("1.1.1.1");
});

test("one network of IPv6 is one address", () => {
  const failures = new FailedLogins(() => 0);
  for (let host = 1; host <= 10; host++) failures.failed(`2001:db8:0:1::${host}`);
  expect(() => failures.check("2001:db8:0:1:ffff::9")).toThrow();
  failures.check("2001:db8:0:2::1");
});

test("a flood of addresses takes no more memory than some thousands", () => {
  const failures = new FailedLogins(() => 0);
  for (let index = 0; index < 10_000; index++) failures.failed(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
  expect(failures.size).toBe(4096);
});
