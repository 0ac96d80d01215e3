import { createHmac } from "node:crypto";
import { schedulesConformance, tokensConformance } from "@torpor/core/testing";
import { expect, test } from "vitest";
import { cronSchedules } from "./schedules.ts";
import { randomTokens } from "./tokens.ts";

schedulesConformance("croner", cronSchedules);
tokensConformance("node:crypto", randomTokens, (secret, body) => {
  const digest = createHmac("sha256", secret).update(Buffer.from(body, "base64")).digest("hex");
  return `sha256=${digest}`;
});

test("a signature is the HMAC of RFC 4231 (its test case 2)", () => {
  const body = Buffer.from("what do ya want for nothing?").toString("base64");
  expect(randomTokens.verify("Jefe", body, "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")).toBe(true);
});

test("a schedule keeps to the hour of its zone over the change to summer time", () => {
  const nine = (after: string) => cronSchedules.next("0 9 * * *", "Europe/Berlin", new Date(after))?.toISOString();
  expect(nine("2026-03-28T00:00:00Z")).toBe("2026-03-28T08:00:00.000Z");
  expect(nine("2026-03-28T12:00:00Z")).toBe("2026-03-29T07:00:00.000Z");
});
