import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { hostAgrees } from "../harness/holdings.ts";
import { eventually } from "../harness/inside.ts";
import { removeAll } from "../harness/remove-all.ts";
import { enginePids, killHard } from "../harness/runtime.ts";
import { stoppedAt } from "../harness/stopped-at.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { goesOn, hasFiles, startWitness, type Witness } from "../harness/witness.ts";

const directory = mkdtempSync(path.join(tmpdir(), "torpor-killed-"));
const armed = path.join(directory, "armed");
const name = "base";
let daemon: TestDaemon;
let witness: Witness;

beforeAll(async () => {
  daemon = await TestDaemon.start({ env: { TORPOR_FAILPOINT: armed } });
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await daemon[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await removeAll(daemon.client);
  await daemon.client.create({ image: "debian", name });
  witness = await startWitness(daemon.client, name);
});

/** Kills every engine of this daemon when it is at the step; gives the call's outcome. */
async function killedAt(failpoint: string, ask: () => Promise<unknown>): Promise<unknown> {
  const { goOn } = await stoppedAt(daemon, armed, failpoint, ask);
  for (const pid of enginePids(daemon.instance)) await killHard(pid);
  return goOn();
}

describe("the engine is killed in the middle of", () => {
  test("a create: it fails with the cause, nothing is left, and the next goes through", async () => {
    await removeAll(daemon.client);
    const create = () => daemon.client.create({ image: "debian", name });
    expect(await killedAt("create.ready", create)).toMatchObject({ code: "engine_failed", message: expect.stringContaining("SIGKILL") });
    expect(await daemon.client.list()).toEqual([]);
    await hostAgrees(daemon);
    await create();
  });

  test.each(["pause.freeze", "pause.capture"])("a pause, at %s: it fails, and no memory is claimed", async (failpoint) => {
    expect(await killedAt(failpoint, () => daemon.client.pause(name))).toMatchObject({ code: "engine_failed" });
    await isFailed();
  });

  test.each(["pause.seal", "pause.reclaim"])("a pause, at %s: the memory is there already, and comes back", async (failpoint) => {
    await killedAt(failpoint, () => daemon.client.pause(name));
    expect(await daemon.client.get(name)).toMatchObject({ state: "paused", failure: null });
    await hostAgrees(daemon);
    await daemon.client.resume(name, { memory: "require" });
    await goesOn(daemon.client, name, witness);
  });

  test("a pause with files only: the files are there", async () => {
    await killedAt("pause.shutdown", () => daemon.client.pause(name, { memory: false }));
    expect(await daemon.client.get(name)).toMatchObject({ state: "paused", checkpoint: null });
    await hostAgrees(daemon);
    await daemon.client.resume(name);
    await hasFiles(daemon.client, name);
  });

  test("a fork before its capture: it fails, there is no child", async () => {
    expect(await killedAt("fork.capture", () => daemon.client.fork(name, { name: "child" }))).toMatchObject({ code: "engine_failed" });
    expect(await daemon.client.list()).toHaveLength(1);
    await isFailed();
  });

  test("a fork after its capture: the child has the memory, the source has ended", async () => {
    await killedAt("fork.children", () => daemon.client.fork(name, { name: "child" }));
    await goesOn(daemon.client, "child", witness);
    await isFailed();
  });

  test("a stop: it is stopped, the files are there", async () => {
    await killedAt("stop.shutdown", () => daemon.client.stop(name));
    expect(await daemon.client.get(name)).toMatchObject({ state: "stopped" });
    await hostAgrees(daemon);
    await daemon.client.start(name);
    await hasFiles(daemon.client, name);
  });

  test("a removal: it is gone", async () => {
    await killedAt("remove.reclaim", () => daemon.client.remove(name, { force: true }));
    expect(await daemon.client.list()).toEqual([]);
    await hostAgrees(daemon);
  });
});

/** With the cause; the files are there, and a start brings them. */
async function isFailed(): Promise<void> {
  const failed = await eventually(
    () => daemon.client.get(name),
    ({ state, operation }) => state === "failed" && operation === null,
  );
  expect(failed).toMatchObject({ checkpoint: null, runtimeId: null, failure: { message: expect.stringContaining("SIGKILL") } });
  await hostAgrees(daemon);
  await daemon.client.start(name);
  await hasFiles(daemon.client, name);
}
