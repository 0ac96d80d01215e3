import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { shimFailpoints } from "@torpor/core/reference";
import { describe, expect, test } from "vitest";
import { armedWorld } from "../harness/armed-world.ts";
import { fill } from "../harness/filler.ts";
import { hostAgrees } from "../harness/holdings.ts";
import { eventually } from "../harness/inside.ts";
import { fillMemory } from "../harness/large-memory.ts";
import { hostRuntime, isAlive, killHard } from "../harness/runtime.ts";
import { stoppedAt } from "../harness/stopped-at.ts";
import { goesOn, hasFiles } from "../harness/witness.ts";

const source = readFileSync(new URL("../../../native/internal/shim/failpoint.go", import.meta.url), "utf8");
const names = shimFailpoints(source).map(({ name }) => name);
/** Reached where a large memory that was resumed is paused again. */
const whileItShares = "capture.described";
const world = armedWorld();
const name = world.sandbox;

describe("a shim that is killed", () => {
  test.each(named("launch"))(
    "at %s of a create: it fails with the cause, nothing is left, and the next goes through",
    async (failpoint) => {
      const { client } = world.daemon;
      writeFileSync(world.shimArmed, failpoint);
      await expect(client.create({ image: "debian", name: "another" })).rejects.toMatchObject({
        code: "engine_failed",
        message: expect.stringContaining("shim"),
      });
      expect((await client.list()).map((sandbox) => sandbox.name)).toEqual([name]);
      await settled();
      await client.create({ image: "debian", name: "another" });
    },
  );

  test.each(named("launch"))("at %s of a resume: it is tried again, and the memory comes back", async (failpoint) => {
    const { client } = world.daemon;
    await client.pause(name);
    writeFileSync(world.shimArmed, failpoint);
    const { operation } = await client.resume(name, { memory: "require" });
    expect(operation.result).toMatchObject({ restored: "memory" });
    await goesOn(client, name, world.witness);
    await settled();
  });

  test.each([...named("freeze"), ...named("capture")])(
    "at %s of a pause: the sandbox goes on, and the next pause goes through",
    async (failpoint) => {
      const { client } = world.daemon;
      writeFileSync(world.shimArmed, failpoint);
      await expect(client.pause(name)).rejects.toMatchObject({ code: "engine_failed", message: expect.stringContaining("shim") });
      expect(await client.get(name)).toMatchObject({ state: "running", operation: null });
      await goesOn(client, name, world.witness);
      await settled();
      await pausesAndResumes();
    },
  );

  test(`at ${whileItShares} of the second pause of a large memory: the sandbox goes on, and the next pause goes through`, async () => {
    const { client } = world.daemon;
    await fillMemory(client, name, 160);
    await pausesAndResumes();
    writeFileSync(world.shimArmed, whileItShares);
    await expect(client.pause(name)).rejects.toMatchObject({ code: "engine_failed", message: expect.stringContaining("shim") });
    expect(await client.get(name)).toMatchObject({ state: "running", operation: null });
    await goesOn(client, name, world.witness);
    await settled();
    await pausesAndResumes();
  });

  test.each([...named("freeze"), ...named("capture"), ...named("thaw")])(
    "at %s of a fork: the source goes on, and the next fork goes through",
    async (failpoint) => {
      const { client } = world.daemon;
      writeFileSync(world.shimArmed, failpoint);
      await client.fork(name, { name: "child" }).catch((error: unknown) => expect(error).toMatchObject({ code: "engine_failed" }));
      expect(await client.get(name)).toMatchObject({ state: "running", operation: null });
      await goesOn(client, name, world.witness);
      await settled();
      await client.fork(name, { name: "next" });
      await goesOn(client, "next", world.witness);
    },
  );

  test.each(named("release"))("at %s of a pause and of a removal: what it held is freed by another", async (failpoint) => {
    const { client } = world.daemon;
    writeFileSync(world.shimArmed, failpoint);
    await client.pause(name);
    await settled();
    await client.resume(name, { memory: "require" });
    await goesOn(client, name, world.witness);
    writeFileSync(world.shimArmed, failpoint);
    await client.remove(name, { force: true });
    expect(await client.list()).toEqual([]);
    await settled();
  });

  test.each(named("hold"))("at %s for want of room: another holds it and lets it go on, and nothing is lost", async (failpoint) => {
    const { client } = world.daemon;
    const isOver = failpoint.startsWith("hold.end.");
    if (!isOver) writeFileSync(world.shimArmed, failpoint);
    const free = fill(path.join(world.daemon.data, "pool"), 64 * 2 ** 20);
    await eventually(
      () => client.get(name),
      ({ held }) => held != null,
    );
    if (isOver) writeFileSync(world.shimArmed, failpoint);
    free();
    await eventually(
      () => client.get(name),
      ({ held }) => held === null,
    );
    await goesOn(client, name, world.witness);
    await hasFiles(client, name);
    await settled();
    await pausesAndResumes();
  });

  test.each(["seal", "reclaim"])("between its calls, before %s of a pause: the pause goes through, with the memory", async (phase) => {
    const { client } = world.daemon;
    const { shimPid } = await hostRuntime(client, world.daemon.instance, name);
    const { goOn } = await stoppedAt(world.daemon, world.armed, `pause.${phase}`, () => client.pause(name));
    await killHard(shimPid);
    expect(await goOn()).toMatchObject({ operation: { status: "succeeded", result: { memory: true } } });
    await hostAgrees(world.daemon);
    await client.resume(name, { memory: "require" });
    await goesOn(client, name, world.witness);
  });
});

describe("a runtime whose directory somebody removed", () => {
  test("is found by its control group when the daemon starts: freed and reported, and its files are there", async () => {
    const { client } = world.daemon;
    const runtime = await hostRuntime(client, world.daemon.instance, name);
    await world.daemon.kill();
    await rm(runtime.directory, { recursive: true });
    await world.daemon.launch();
    expect(await world.daemon.client.get(name)).toMatchObject({ state: "stopped", runtimeId: null, failure: { code: "engine_failed" } });
    expect([isAlive(runtime.enginePid), isAlive(runtime.shimPid)]).toEqual([false, false]);
    await hostAgrees(world.daemon);
    await world.daemon.client.start(name);
    await hasFiles(world.daemon.client, name);
  });

  test("goes on while its daemon lives, and is removed with nothing left", async () => {
    const { client } = world.daemon;
    const runtime = await hostRuntime(client, world.daemon.instance, name);
    await rm(runtime.directory, { recursive: true });
    await goesOn(client, name, world.witness);
    await client.remove(name, { force: true });
    expect([isAlive(runtime.enginePid), isAlive(runtime.shimPid)]).toEqual([false, false]);
    await hostAgrees(world.daemon);
  });
});

function named(call: string): string[] {
  return names.filter((each) => each.startsWith(`${call}.`) && each !== whileItShares);
}

/** It was reached, and what is on the host is what the records say. */
async function settled(): Promise<void> {
  expect(existsSync(world.shimArmed)).toBe(false);
  await hostAgrees(world.daemon);
}

async function pausesAndResumes(): Promise<void> {
  await world.daemon.client.pause(name);
  await world.daemon.client.resume(name, { memory: "require" });
  await goesOn(world.daemon.client, name, world.witness);
  await hasFiles(world.daemon.client, name);
}
