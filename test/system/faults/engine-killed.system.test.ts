import { describe, expect, test } from "vitest";
import { armedWorld } from "../harness/armed-world.ts";
import { hostAgrees } from "../harness/holdings.ts";
import { eventually } from "../harness/inside.ts";
import { removeAll } from "../harness/remove-all.ts";
import { enginePids, isAlive, killHard, runtimePids, signalIfThere } from "../harness/runtime.ts";
import { stoppedAt } from "../harness/stopped-at.ts";
import { goesOn, hasFiles } from "../harness/witness.ts";

const world = armedWorld();
const name = world.sandbox;

/** Kills every engine of this daemon when it is at the step; gives the call's outcome. */
async function killedAt(failpoint: string, ask: () => Promise<unknown>): Promise<unknown> {
  const { goOn } = await stoppedAt(world.daemon, world.armed, failpoint, ask);
  for (const pid of enginePids(world.daemon.instance)) await killHard(pid);
  return goOn();
}

describe("the engine is killed in the middle of", () => {
  test("a create: it fails with the cause, nothing is left, and the next goes through", async () => {
    const create = () => world.daemon.client.create({ image: "debian", name });
    let outcome: unknown;
    // Again if it was made before the kill.
    do {
      await removeAll(world.daemon.client);
      const creating = create().catch((error: unknown) => error);
      await eventually(async () => killAllOf(world.daemon.instance), Boolean);
      outcome = await creating;
    } while (!(outcome instanceof Error));
    expect(outcome).toMatchObject({ code: "engine_failed" });
    expect(await world.daemon.client.list()).toEqual([]);
    await hostAgrees(world.daemon);
    await create();
  });

  test.each(["pause.freeze", "pause.capture"])("a pause, at %s: it fails, and no memory is claimed", async (failpoint) => {
    expect(await killedAt(failpoint, () => world.daemon.client.pause(name))).toMatchObject({ code: "engine_failed" });
    await isFailed();
  });

  test.each(["pause.seal", "pause.reclaim"])("a pause, at %s: the memory is there already, and comes back", async (failpoint) => {
    await killedAt(failpoint, () => world.daemon.client.pause(name));
    expect(await world.daemon.client.get(name)).toMatchObject({ state: "paused", failure: null });
    await hostAgrees(world.daemon);
    await world.daemon.client.resume(name, { memory: "require" });
    await goesOn(world.daemon.client, name, world.witness);
  });

  test("a pause with files only: the files are there", async () => {
    await killedAt("pause.shutdown", () => world.daemon.client.pause(name, { memory: false }));
    expect(await world.daemon.client.get(name)).toMatchObject({ state: "paused", checkpoint: null });
    await hostAgrees(world.daemon);
    await world.daemon.client.resume(name);
    await hasFiles(world.daemon.client, name);
  });

  test("a fork before its capture: it fails, there is no child", async () => {
    expect(await killedAt("fork.capture", () => world.daemon.client.fork(name, { name: "child" }))).toMatchObject({
      code: "engine_failed",
    });
    expect(await world.daemon.client.list()).toHaveLength(1);
    await isFailed();
  });

  test("a fork after its capture: the child has the memory, the source has ended", async () => {
    await killedAt("fork.children", () => world.daemon.client.fork(name, { name: "child" }));
    await goesOn(world.daemon.client, "child", world.witness);
    await isFailed();
  });

  test("a stop: it is stopped, the files are there", async () => {
    await killedAt("stop.shutdown", () => world.daemon.client.stop(name));
    expect(await world.daemon.client.get(name)).toMatchObject({ state: "stopped" });
    await hostAgrees(world.daemon);
    await world.daemon.client.start(name);
    await hasFiles(world.daemon.client, name);
  });

  test("a removal: it is gone", async () => {
    await killedAt("remove.reclaim", () => world.daemon.client.remove(name, { force: true }));
    expect(await world.daemon.client.list()).toEqual([]);
    await hostAgrees(world.daemon);
  });
});

/** Whatever the engine has started so far; says whether that was anything. */
function killAllOf(instance: string): boolean {
  const killed = runtimePids(instance)
    .filter(isAlive)
    .filter((pid) => signalIfThere(pid, "SIGKILL"));
  return killed.length > 0;
}

/** With the cause; the files are there, and a start brings them. */
async function isFailed(): Promise<void> {
  const failed = await eventually(
    () => world.daemon.client.get(name),
    ({ state, operation }) => state === "failed" && operation === null,
  );
  expect(failed).toMatchObject({ checkpoint: null, runtimeId: null, failure: { message: expect.stringContaining("SIGKILL") } });
  await hostAgrees(world.daemon);
  await world.daemon.client.start(name);
  await hasFiles(world.daemon.client, name);
}
