import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { shimFailpoints } from "@torpor/core/reference";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fill } from "../harness/filler.ts";
import { hostAgrees } from "../harness/holdings.ts";
import { eventually } from "../harness/inside.ts";
import { removeAll } from "../harness/remove-all.ts";
import { hostRuntime, isAlive, killHard } from "../harness/runtime.ts";
import { stoppedAt } from "../harness/stopped-at.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { goesOn, hasFiles, startWitness, type Witness } from "../harness/witness.ts";

const source = readFileSync(new URL("../../../native/internal/shim/failpoint.go", import.meta.url), "utf8");
const names = shimFailpoints(source).map(({ name }) => name);
const directory = mkdtempSync(path.join(tmpdir(), "torpor-shim-walk-"));
const armed = path.join(directory, "armed");
const daemonArmed = path.join(directory, "daemon-armed");
const name = "walker";
let daemon: TestDaemon;
let witness: Witness;

beforeAll(async () => {
  daemon = await TestDaemon.start({ env: { TORPOR_SHIM_FAILPOINT: armed, TORPOR_FAILPOINT: daemonArmed } });
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await daemon[Symbol.asyncDispose]();
});
beforeEach(async () => {
  rmSync(armed, { force: true });
  await removeAll(daemon.client);
  await daemon.client.create({ image: "debian", name });
  witness = await startWitness(daemon.client, name);
});

describe("a shim that is killed", () => {
  test.each(named("launch"))(
    "at %s of a create: it fails with the cause, nothing is left, and the next goes through",
    async (failpoint) => {
      const { client } = daemon;
      writeFileSync(armed, failpoint);
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
    const { client } = daemon;
    await client.pause(name);
    writeFileSync(armed, failpoint);
    const { operation } = await client.resume(name, { memory: "require" });
    expect(operation.result).toMatchObject({ restored: "memory" });
    await goesOn(client, name, witness);
    await settled();
  });

  test.each([...named("freeze"), ...named("capture")])(
    "at %s of a pause: the sandbox goes on, and the next pause goes through",
    async (failpoint) => {
      const { client } = daemon;
      writeFileSync(armed, failpoint);
      await expect(client.pause(name)).rejects.toMatchObject({ code: "engine_failed", message: expect.stringContaining("shim") });
      expect(await client.get(name)).toMatchObject({ state: "running", operation: null });
      await goesOn(client, name, witness);
      await settled();
      await pausesAndResumes();
    },
  );

  test.each([...named("freeze"), ...named("capture"), ...named("thaw")])(
    "at %s of a fork: the source goes on, and the next fork goes through",
    async (failpoint) => {
      const { client } = daemon;
      writeFileSync(armed, failpoint);
      await client.fork(name, { name: "child" }).catch((error: unknown) => expect(error).toMatchObject({ code: "engine_failed" }));
      expect(await client.get(name)).toMatchObject({ state: "running", operation: null });
      await goesOn(client, name, witness);
      await settled();
      await client.fork(name, { name: "next" });
      await goesOn(client, "next", witness);
    },
  );

  test.each(named("release"))("at %s of a pause and of a removal: what it held is freed by another", async (failpoint) => {
    const { client } = daemon;
    writeFileSync(armed, failpoint);
    await client.pause(name);
    await settled();
    await client.resume(name, { memory: "require" });
    await goesOn(client, name, witness);
    writeFileSync(armed, failpoint);
    await client.remove(name, { force: true });
    expect(await client.list()).toEqual([]);
    await settled();
  });

  test.each(named("hold"))("at %s for want of room: another holds it and lets it go on, and nothing is lost", async (failpoint) => {
    const { client } = daemon;
    const isOver = failpoint.startsWith("hold.end.");
    if (!isOver) writeFileSync(armed, failpoint);
    const free = fill(path.join(daemon.data, "pool"), 64 * 2 ** 20);
    await eventually(
      () => client.get(name),
      ({ held }) => held != null,
      30_000,
    );
    if (isOver) writeFileSync(armed, failpoint);
    free();
    await eventually(
      () => client.get(name),
      ({ held }) => held === null,
      30_000,
    );
    await goesOn(client, name, witness);
    await hasFiles(client, name);
    await settled();
    await pausesAndResumes();
  });

  test.each(["seal", "reclaim"])("between its calls, before %s of a pause: the pause goes through, with the memory", async (phase) => {
    const { client } = daemon;
    const { shimPid } = await hostRuntime(client, daemon.instance, name);
    const { goOn } = await stoppedAt(daemon, daemonArmed, `pause.${phase}`, () => client.pause(name));
    await killHard(shimPid);
    expect(await goOn()).toMatchObject({ operation: { status: "succeeded", result: { memory: true } } });
    await hostAgrees(daemon);
    await client.resume(name, { memory: "require" });
    await goesOn(client, name, witness);
  });
});

describe("a runtime whose directory somebody removed", () => {
  test("is found by its control group when the daemon starts: freed and reported, and its files are there", async () => {
    const { client } = daemon;
    const runtime = await hostRuntime(client, daemon.instance, name);
    await daemon.kill();
    await rm(runtime.directory, { recursive: true });
    await daemon.launch();
    expect(await daemon.client.get(name)).toMatchObject({ state: "stopped", runtimeId: null, failure: { code: "engine_failed" } });
    expect([isAlive(runtime.enginePid), isAlive(runtime.shimPid)]).toEqual([false, false]);
    await hostAgrees(daemon);
    await daemon.client.start(name);
    await hasFiles(daemon.client, name);
  });

  test("goes on while its daemon lives, and is removed with nothing left", async () => {
    const { client } = daemon;
    const runtime = await hostRuntime(client, daemon.instance, name);
    await rm(runtime.directory, { recursive: true });
    await goesOn(client, name, witness);
    await client.remove(name, { force: true });
    expect([isAlive(runtime.enginePid), isAlive(runtime.shimPid)]).toEqual([false, false]);
    await hostAgrees(daemon);
  });
});

function named(call: string): string[] {
  return names.filter((each) => each.startsWith(`${call}.`));
}

/** It was reached, and what is on the host is what the records say. */
async function settled(): Promise<void> {
  expect(existsSync(armed)).toBe(false);
  await hostAgrees(daemon);
}

async function pausesAndResumes(): Promise<void> {
  await daemon.client.pause(name);
  await daemon.client.resume(name, { memory: "require" });
  await goesOn(daemon.client, name, witness);
  await hasFiles(daemon.client, name);
}
