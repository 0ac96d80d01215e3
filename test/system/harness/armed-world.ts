import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { removeAll } from "./remove-all.ts";
import { TestDaemon } from "./test-daemon.ts";
import { startWitness, type Witness } from "./witness.ts";

/** What a file of tests of faults begins with: a daemon and shims that fail where they are told, and one sandbox, made anew before each test. */
export interface ArmedWorld {
  readonly daemon: TestDaemon;
  readonly sandbox: string;
  readonly witness: Witness;
  /** What is written here names the daemon's next failpoint. */
  readonly armed: string;
  /** The shims'. */
  readonly shimArmed: string;
}

export function armedWorld(): ArmedWorld {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-armed-"));
  const armed = path.join(directory, "daemon");
  const shimArmed = path.join(directory, "shim");
  let daemon: TestDaemon;
  let witness: Witness;
  beforeAll(async () => {
    daemon = await TestDaemon.start({ env: { TORPOR_FAILPOINT: armed, TORPOR_SHIM_FAILPOINT: shimArmed } });
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await daemon[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    for (const file of [armed, shimArmed]) rmSync(file, { force: true });
    await removeAll(daemon.client);
    await daemon.client.create({ image: "debian", name: sandbox });
    witness = await startWitness(daemon.client, sandbox);
  });
  return {
    sandbox,
    armed,
    shimArmed,
    get daemon() {
      return daemon;
    },
    get witness() {
      return witness;
    },
  };
}

const sandbox = "base";
