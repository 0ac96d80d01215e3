import { expect, test } from "vitest";
import { capabilitiesIn, openFilesIn } from "./host-rights.ts";

test("a capability is held when its bit is set", () => {
  const held = capabilitiesIn("Name:\tnode\nCapPrm:\t000001fffeffffff\nCapEff:\t0000000000000000\n");
  expect(held.has("CAP_SYS_RESOURCE")).toBe(false); // 24
  expect(held.has("CAP_SYS_ADMIN")).toBe(true); // 21
  expect(held.has("CAP_CHECKPOINT_RESTORE")).toBe(true); // 40
  expect(held.size).toBe(40);
});

test("no more open files than the host's process may have itself", () => {
  expect(
    openFilesIn("Limit   Soft Limit  Hard Limit  Units\nMax open files            1024                 20000                files\n"),
  ).toBe(20_000);
  expect(openFilesIn("Max open files            1024                 unlimited            files\n")).toBe(1_048_576);
});
