import { globSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as passes } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { hostAgrees } from "../harness/holdings.ts";
import { eventually, inside, output } from "../harness/inside.ts";
import { fillMemory } from "../harness/large-memory.ts";
import { refusedStart } from "../harness/refused-start.ts";
import { enginePids, hostRuntime, isAlive, killHard, runtimePids } from "../harness/runtime.ts";
import { stoppedInCapture } from "../harness/stopped-in-capture.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { goesOn, hasFiles, startWitness } from "../harness/witness.ts";

const mib = 2 ** 20;
const directory = mkdtempSync(path.join(tmpdir(), "torpor-armed-"));
const armed = path.join(directory, "daemon");
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start({ env: { TORPOR_FAILPOINT: armed } });
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await daemon[Symbol.asyncDispose]();
});

describe("the engine is killed", () => {
  test("while the sandbox runs: failed with the cause within 10 s, its files are there, and no fresh one takes its place (D12)", async () => {
    const name = await startSandbox();
    const { generation } = await daemon.client.get(name);
    await killHard((await runtimeOf(name)).enginePid);
    const failed = await becomes(name, "failed");
    expect(failed).toMatchObject({ generation, runtimeId: null, failure: { message: expect.stringContaining("SIGKILL") } });
    expect((await daemon.client.events(name)).at(-1)).toMatchObject({ type: "sandbox.ended", data: { reason: "killed" } });
    await hostAgrees(daemon);
    await daemon.client.start(name);
    await hasFiles(daemon.client, name);
  });

  test.each([60, 150, 250])(
    "%i ms into the pause of a sandbox with 512 MiB: the pause fails or is through, nothing is claimed that is not there",
    async (afterMs) => {
      const name = await startSandbox(1024 * mib);
      await fillMemory(daemon.client, name, 512);
      const { enginePid } = await runtimeOf(name);
      const pausing = daemon.client.pause(name).then(
        () => undefined,
        (error: unknown) => error,
      );
      await passes(afterMs);
      if (isAlive(enginePid)) await killHard(enginePid);
      const error = await pausing;
      if (error === undefined) {
        await daemon.client.resume(name, { memory: "require" });
      } else {
        // On a busy machine it may not have come to the pause yet.
        expect(["engine_failed", "sandbox_not_running"]).toContain((error as { code?: string }).code);
        expect(await becomes(name, "failed")).toMatchObject({ checkpoint: null });
        await hostAgrees(daemon);
        await daemon.client.start(name);
      }
      await hasFiles(daemon.client, name);
    },
  );

  test("while it resumes: it is tried again, or stays paused, and its memory is never lost", async () => {
    const name = await startSandbox();
    const witness = await startWitness(daemon.client, name);
    for (const afterMs of [80, 120, 160, 200]) {
      await daemon.client.pause(name);
      const resuming = daemon.client.resume(name, { memory: "require" }).catch((error: unknown) => error);
      await passes(afterMs);
      for (const pid of enginePids(daemon.instance)) await killHard(pid);
      await resuming;
      // Killed after the resume's success, it is an end like any other, and the memory was used up.
      const { state } = await eventually(
        () => daemon.client.get(name),
        ({ operation }) => operation === null,
      );
      if (state === "failed" || (state === "running" && !(await answers(name)))) {
        await becomes(name, "failed");
        return;
      }
      if (state === "paused") await daemon.client.resume(name, { memory: "require" });
      await goesOn(daemon.client, name, witness);
    }
  });

  test("and the shim too, in the middle of a capture: partial files are gone, the files are there", async () => {
    const name = await startSandbox();
    const { outcome, enginePid, shimPid } = await stoppedInCapture(daemon, armed, name);
    await Promise.all([killHard(shimPid), killHard(enginePid)]);
    expect(await outcome).toMatchObject({ code: "engine_failed" });
    await becomes(name, "failed");
    await hostAgrees(daemon);
    await daemon.client.start(name);
    await hasFiles(daemon.client, name);
  });

  test("the shim alone, in the middle of a capture: the sandbox goes on", async () => {
    const name = await startSandbox();
    const witness = await startWitness(daemon.client, name);
    const { outcome, shimPid, goOn } = await stoppedInCapture(daemon, armed, name);
    await killHard(shimPid);
    goOn();
    expect(await outcome).toMatchObject({ code: "engine_failed" });
    expect(await daemon.client.get(name)).toMatchObject({ state: "running" });
    await goesOn(daemon.client, name, witness);
    await hostAgrees(daemon);
    await daemon.client.pause(name);
    await daemon.client.resume(name, { memory: "require" });
    await goesOn(daemon.client, name, witness);
  });
});

test("get and list answer while a checkpoint is written that takes as long as it likes, and other sandboxes work (P18)", async () => {
  const { client } = daemon;
  const [big, other] = [await startSandbox(), await startSandbox()];
  const { outcome, goOn } = await stoppedInCapture(daemon, armed, big);
  // Each answer comes, since nothing of the capture does.
  expect(await client.get(big)).toMatchObject({ state: "pausing", operation: { kind: "pause", phase: "capture" } });
  expect((await client.list()).map(({ name, state }) => [name, state])).toEqual(
    expect.arrayContaining([
      [big, "pausing"],
      [other, "running"],
    ]),
  );
  expect(await output(client, other, ["echo", "ok"])).toBe("ok");
  goOn();
  expect(await outcome).toMatchObject({ operation: { status: "succeeded" } });
  await client.resume(big, { memory: "require" });
});

test("root inside kills PID 1: that ends the sandbox, which is reported with the cause, and its files are there; nobody else can", async () => {
  const name = await startSandbox();
  const witness = await startWitness(daemon.client, name);
  const refused = await inside(daemon.client, name, "kill -9 1", { user: "nobody" });
  expect(refused.end.exitCode).not.toBe(0);
  await goesOn(daemon.client, name, witness);
  await inside(daemon.client, name, "kill -9 1").catch(() => {});
  const failed = await becomes(name, "failed");
  expect(failed.failure?.message).toMatch(/exited with code 137|SIGKILL/);
  await hostAgrees(daemon);
  await daemon.client.start(name);
  await hasFiles(daemon.client, name);
});

test("two daemons on one data directory: the second refuses, and the first goes on", async () => {
  const name = await startSandbox();
  const { code, stderr } = await refusedStart({ data: daemon.data });
  expect(code).toBe(1);
  expect(stderr).toMatch(/torpord: .*(in use|another|already)/i);
  expect(await output(daemon.client, name, "echo still")).toBe("still");
});

describe("the host reboots (D18)", () => {
  test("running ones are stopped with the reason, paused ones are resumed with their memory, none is undeletable", async () => {
    const { client } = daemon;
    const [running, paused, filesPaused] = [await startSandbox(), await startSandbox(), await startSandbox()];
    const witness = await startWitness(client, paused);
    await output(client, running, "echo kept > /root/marker; sync");
    await client.pause(paused);
    await client.pause(filesPaused, { memory: false });
    const { enginePid, shimPid } = await runtimeOf(running);
    await daemon.kill();
    for (const pid of [shimPid, enginePid]) await killHard(pid);
    await eventually(
      async () => runtimePids(daemon.instance),
      (pids) => pids.length === 0,
    );
    await rm(path.join("/run/torpor", daemon.instance), { recursive: true });
    for (const group of globSync(`/sys/fs/cgroup/{torpor-${daemon.instance},*/torpor-${daemon.instance}}/rt_*`)) rmdirSync(group);
    await daemon.launch();
    const stopped = await daemon.client.get(running);
    expect(stopped).toMatchObject({
      state: "stopped",
      runtimeId: null,
      failure: { message: expect.stringContaining("the host was started anew") },
    });
    expect(await daemon.client.get(paused)).toMatchObject({ state: "paused" });
    await hostAgrees(daemon);
    await daemon.client.resume(paused, { memory: "require" });
    await goesOn(daemon.client, paused, witness);
    await daemon.client.resume(filesPaused);
    await daemon.client.start(running);
    await hasFiles(daemon.client, running);
  });
});

let count = 0;
async function startSandbox(memoryBytes = 512 * mib): Promise<string> {
  const name = `fault-${count++}`;
  await daemon.client.create({ image: "debian", name, resources: { memoryBytes } });
  onTestFinished(async () => void (await daemon.client.remove(name, { force: true }).catch(() => {})));
  await output(daemon.client, name, "echo kept > /root/marker; sync");
  return name;
}

function runtimeOf(name: string) {
  return hostRuntime(daemon.client, daemon.instance, name);
}

function becomes(name: string, state: string) {
  return eventually(
    () => daemon.client.get(name),
    (sandbox) => sandbox.state === state && sandbox.operation === null,
    10_000,
  );
}

async function answers(name: string): Promise<boolean> {
  return output(daemon.client, name, "true").then(
    () => true,
    () => false,
  );
}
