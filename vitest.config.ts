import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Of the many commands and daemons that the tests start: where their own cache is, but from their first file on. */
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), "node-compile-cache");

/** Prepared by whoever owns the system tests: makes the pool, the image and the daemon that they share. */
const systemSetup = "test/system/setup.ts";

/** Sandboxes measure and exhaust the host, so no two files of a project at once. */
const oneByOne = {
  pool: "forks",
  maxWorkers: 1,
  fileParallelism: false,
  testTimeout: 300_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 60_000 } },
} as const;

/** What kills daemons, and long ones that need none of the shared: so the two projects take about as long. */
const apart = ["test/system/faults/**/*.system.test.ts", "test/system/packages.system.test.ts", "test/system/images/build.system.test.ts"];

export default defineConfig({
  test: {
    teardownTimeout: 60_000,
    projects: [
      {
        test: {
          name: "unit",
          include: [
            "packages/**/*.test.ts",
            "sdks/typescript/**/*.test.ts",
            "bench/**/*.test.ts",
            "scripts/**/*.test.ts",
            "test/{cases,documents}/**/*.test.ts",
          ],
          exclude: ["**/node_modules/**", "**/*.system.test.ts"],
          // Not vitest's one fewer than the machine has: many files wait for the processes they start.
          maxWorkers: "100%",
          // The machine may be busy with other work, and a test start a dozen commands: limits that only what hangs meets.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
      {
        test: {
          name: "system",
          include: ["test/system/**/*.system.test.ts"],
          exclude: apart,
          ...(existsSync(systemSetup) ? { globalSetup: [systemSetup] } : {}),
          ...oneByOne,
        },
      },
      {
        // Each of its files has a daemon of its own: the whole run has them beside those of `system`, which share one.
        test: { name: "faults", include: apart, globalSetup: ["test/system/prepare.ts"], ...oneByOne },
      },
      {
        test: {
          name: "soak",
          include: ["test/soak/**/*.test.ts"],
          ...(existsSync(systemSetup) ? { globalSetup: [systemSetup] } : {}),
          ...oneByOne,
          testTimeout: 3_600_000,
        },
      },
    ],
  },
});
