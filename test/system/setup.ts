import type { TestProject } from "vitest/node";
import { TestDaemon } from "./harness/test-daemon.ts";
import { testWheels } from "./harness/wheels.ts";

/** One daemon for all files; taking it down at the end fails the run if anything is left on the host. */
// biome-ignore lint/style/noDefaultExport: vitest takes a global setup by its default export.
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Fetched once a machine: here, since the limits of hooks and tests are not for that.
  await testWheels();
  const daemon = await TestDaemon.start();
  project.provide("torporSocket", daemon.socket);
  project.provide("torporData", daemon.data);
  return () => daemon[Symbol.asyncDispose]();
}
