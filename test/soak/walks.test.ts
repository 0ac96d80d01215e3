import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test("random calls, times and kills over more ways than the runs of all days walk", () => {
  const { status } = spawnSync("npx", ["vitest", "run", "--project", "unit", "packages/core/src/.*walk.test.ts"], {
    env: { ...process.env, TORPOR_WALKS: "8000", TORPOR_WALK_SEED: "random" },
    stdio: "inherit",
  });
  expect(status).toBe(0);
});
