import { existsSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** Prepared by whoever owns the system tests: makes the pool, the image and the daemon that they share. */
const systemSetup = "test/system/setup.ts";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: [
            "packages/**/*.test.ts",
            "sdks/typescript/**/*.test.ts",
            "bench/**/*.test.ts",
            "scripts/**/*.test.ts",
            "test/cases/**/*.test.ts",
          ],
          exclude: ["**/node_modules/**", "**/*.system.test.ts"],
          // The machine may be busy with other work: a limit that only a hanging test meets.
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "system",
          include: ["test/system/**/*.system.test.ts"],
          ...(existsSync(systemSetup) ? { globalSetup: [systemSetup] } : {}),
          // Sandboxes measure and exhaust the host, so no two files at once.
          pool: "forks",
          maxWorkers: 1,
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: "soak",
          include: ["test/soak/**/*.test.ts"],
          ...(existsSync(systemSetup) ? { globalSetup: [systemSetup] } : {}),
          pool: "forks",
          maxWorkers: 1,
          fileParallelism: false,
          testTimeout: 3_600_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
