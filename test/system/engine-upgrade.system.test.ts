import { chmodSync, copyFileSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hostAgrees } from "./harness/holdings.ts";
import { removeAll } from "./harness/remove-all.ts";
import { killHard } from "./harness/runtime.ts";
import { sharedClient } from "./harness/shared.ts";
import { stoppedInCapture } from "./harness/stopped-in-capture.ts";
import { TestDaemon } from "./harness/test-daemon.ts";
import { goesOn, startWitness, type Witness } from "./harness/witness.ts";

const directory = mkdtempSync(path.join(tmpdir(), "torpor-engine-"));
const runsc = path.join(directory, "runsc");
const armed = path.join(directory, "armed");
const versions = { pinned: path.join(directory, "pinned"), other: path.join(directory, "other") };
let daemon: TestDaemon;

beforeAll(async () => {
  const { engine } = await sharedClient().info();
  copyFileSync(engine.path, versions.pinned);
  // Engines compare this string at a restore. One of the same length makes the binary another version, in all that Torpor sees of it.
  const bytes = readFileSync(engine.path);
  bytes.write(`${engine.version.slice(0, -4)}0000`, bytes.indexOf(engine.version), "latin1");
  writeFileSync(versions.other, bytes);
  for (const file of Object.values(versions)) chmodSync(file, 0o755);
  install("pinned");
  daemon = await TestDaemon.start({ env: { TORPOR_RUNSC: runsc, TORPOR_FAILPOINT: armed } });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

test("the engine binary is replaced by another version, and back: each checkpoint is restored by the one that made it, and its want is named", async () => {
  const pinned = (await daemon.client.info()).engine;
  const old = await paused("old");
  await upgrade("other");
  const other = (await daemon.client.info()).engine;
  expect(other.version).not.toBe(pinned.version);
  const fresh = await paused("fresh");
  await daemon.client.resume("old", { memory: "require" });
  await goesOn(daemon.client, "old", old);
  await daemon.client.pause("old");
  const kept = path.join(daemon.data, "engines/runsc", pinned.sha256);
  await rename(kept, `${kept}.away`);
  await expect(daemon.client.resume("old", { memory: "require" })).rejects.toMatchObject({
    code: "checkpoint_incompatible",
    message: expect.stringContaining(pinned.sha256),
  });
  expect(await daemon.client.get("old")).toMatchObject({ state: "paused" });
  await rename(`${kept}.away`, kept);
  await upgrade("pinned");
  expect((await daemon.client.info()).engine.version).toBe(pinned.version);
  for (const [name, witness] of [
    ["old", old],
    ["fresh", fresh],
  ] as const) {
    await daemon.client.resume(name, { memory: "require" });
    await goesOn(daemon.client, name, witness);
  }
  await hostAgrees(daemon);
  await removeAll(daemon.client);
});

test("the engine's checkpoint command is killed half-way: the pause fails, the sandbox goes on, and the next pause goes through", async () => {
  // A version whose control protocol is not known is told by its commands.
  await upgrade("other");
  const { client } = daemon;
  await client.create({ image: "debian", name: "large" });
  const witness = await startWitness(client, "large");
  const { outcome, goOn } = await stoppedInCapture(daemon, armed, "large");
  await killHard(checkpointCommand());
  goOn();
  expect(await outcome).toMatchObject({ code: "engine_failed" });
  expect(await client.get("large")).toMatchObject({ state: "running", operation: null, checkpoint: null });
  await goesOn(client, "large", witness);
  await hostAgrees(daemon);
  await client.pause("large");
  await client.resume("large", { memory: "require" });
  await goesOn(client, "large", witness);
});

function install(version: keyof typeof versions): void {
  copyFileSync(versions[version], `${runsc}.new`);
  renameSync(`${runsc}.new`, runsc);
}

async function upgrade(version: keyof typeof versions): Promise<void> {
  install(version);
  await daemon.terminate();
  await daemon.launch();
}

async function paused(name: string): Promise<Witness> {
  await daemon.client.create({ image: "debian", name });
  const witness = await startWitness(daemon.client, name);
  await daemon.client.pause(name);
  return witness;
}

/** Of this daemon's engines. */
function checkpointCommand(): number {
  const commands = globSync("/proc/[0-9]*/cmdline").filter((file) => {
    const text = readIfThere(file);
    return text.includes(daemon.instance) && text.includes("\0checkpoint\0");
  });
  expect(commands).toHaveLength(1);
  return Number(commands[0]?.split("/")[2]);
}

/** A process may end while it is looked at. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
